package dev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// place is where a service runs.
type place struct {
	database string
	brokers  string
	postgres *idemtest.Postgres // nil if it is somebody else's
	broker   *idemtest.Broker   // nil if it is somebody else's, or before the first run
}

// mostWait is how long a database of somebody else's may take to let dev in.
const mostWait = 5 * time.Second

func start(ctx context.Context, o Options) (*place, error) {
	p := &place{database: o.Database, brokers: o.Brokers}
	if o.Database != "" {
		ctx, cancel := context.WithTimeout(ctx, mostWait)
		defer cancel()
		conn, err := pgx.Connect(ctx, o.Database)
		if err != nil {
			return nil, err
		}
		return p, conn.Close(ctx)
	}
	postgres, err := idemtest.StartPostgres(ctx, idemtest.PostgresOptions{TCP: true})
	if err != nil {
		return nil, err
	}
	p.postgres, p.database = postgres, postgres.URL()
	say(o.Out, "Postgres  psql '%s'", p.database)
	return p, nil
}

func (p *place) close() (err error) {
	if p.broker != nil {
		p.broker.Close()
	}
	if p.postgres != nil {
		err = p.postgres.Close()
	}
	return err
}

// emptySQL empties a database.
const emptySQL = `DO $$
DECLARE s name;
BEGIN
	FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
		EXECUTE format('DROP SCHEMA %I CASCADE', s);
	END LOOP;
	CREATE SCHEMA public;
END $$`

// fresh makes an empty database with the tables of the service, and a broker with its topics. A
// place of somebody else's stays as it is.
func (r *run) fresh(ctx context.Context) error {
	p := r.place
	if p.postgres == nil {
		return nil
	}
	if err := p.execute(ctx, emptySQL); err != nil {
		return err
	}
	if err := p.executeFile(ctx, r.data("idem_external.sql")); err != nil { // tables of others
		return err
	}
	if err := p.postgres.Migrate(ctx, r.parts.Migrations); err != nil {
		return err
	}
	if p.broker != nil {
		p.broker.Close()
	}
	topics := map[string]int32{}
	for _, t := range r.parts.Topics {
		for _, name := range t.Names {
			topics[name] = r.Partitions
		}
	}
	var err error
	if p.broker, err = idemtest.StartBroker(topics); err != nil {
		return err
	}
	p.brokers = p.broker.Addr()
	r.say("Kafka     kcat -b %s -L", p.brokers)
	return nil
}

// executeFile runs the statements of a file, which need not exist.
func (p *place) executeFile(ctx context.Context, path string) error {
	sql, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.execute(ctx, string(sql)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// execute runs statements.
func (p *place) execute(ctx context.Context, sql string) (err error) {
	conn, err := pgx.Connect(ctx, p.database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, err = conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}
