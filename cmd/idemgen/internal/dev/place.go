package dev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// place is where a service runs.
type place struct {
	database string
	brokers  string
	postgres *idemtest.Postgres // nil if it is somebody else's
	broker   *idemtest.Broker   // nil if it is somebody else's, or before the first run
	redis    *redistest.Server  // nil if nobody needs it
	registry *srfake.Registry   // of schemas; nil if nobody needs it

	topics   map[string]int32  // of broker, which the service reads
	unfollow func()            // ends what prints the records of other topics
	applied  map[string]string // migrations, by name
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
	p.stopBroker()
	if p.registry != nil {
		p.registry.Close()
	}
	if p.redis != nil {
		err = p.redis.Close()
	}
	if p.postgres != nil {
		err = errors.Join(err, p.postgres.Close())
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

// fresh makes an empty database with the tables of the service, and a broker with its topics,
// whose address it prints if the broker stays. A place of somebody else's stays as it is.
func (r *run) fresh(ctx context.Context, stays bool) error {
	p := r.place
	if p.postgres == nil {
		return nil
	}
	err := p.tables(ctx, r.parts.Migrations, r.data("idem_external.sql"), true)
	if pg, is := errors.AsType[*pgconn.PgError](err); is && slices.Contains([]string{"42P06", "42P07", "42710"}, pg.Code) {
		err = p.tables(ctx, r.parts.Migrations, r.data("idem_external.sql"), false) // the migrations make tables of others, too
	}
	if err != nil {
		return err
	}
	if p.applied, err = contents(r.parts.Migrations); err != nil {
		return err
	}
	p.stopBroker()
	p.topics = r.topics()
	if p.broker, err = idemtest.StartBrokerWith(p.topics, idemtest.BrokerOptions{Missing: r.Partitions}); err != nil {
		return err
	}
	p.brokers = p.broker.Addr()
	if stays {
		r.say("Kafka     kcat -b %s -L", p.brokers)
	}
	if p.unfollow, err = r.follow(ctx); err != nil {
		return err
	}
	return r.freshRedis(ctx)
}

// tables makes the tables of an empty database: those of others, before or after the migrations.
func (p *place) tables(ctx context.Context, migrations, external string, before bool) error {
	err := p.execute(ctx, emptySQL)
	if err == nil && before {
		err = p.executeFile(ctx, external)
	}
	if err == nil {
		err = p.postgres.Migrate(ctx, migrations)
	}
	if err == nil && !before {
		err = p.executeFile(ctx, external)
	}
	return err
}

// stopBroker ends the broker, if there is one, and what follows its log.
func (p *place) stopBroker() {
	if p.unfollow != nil {
		p.unfollow()
	}
	if p.broker != nil {
		p.broker.Close()
	}
	p.broker, p.unfollow = nil, nil
}

// freshRedis is for services that keep leases there.
func (r *run) freshRedis(ctx context.Context) (err error) {
	p := r.place
	if p.redis != nil {
		_, err = p.redis.Do(ctx, "FLUSHALL")
		return err
	}
	if !r.links("runtime/redislease") {
		return nil
	}
	if p.redis, err = redistest.Run(ctx, nil); err == nil {
		r.say("Redis     redis-cli -u redis://%s", p.redis.Addr())
	}
	return err
}

// register gives a registry the schemas of the topics that need one.
func (r *run) register() {
	p := r.place
	if p.registry != nil {
		p.registry.Reset()
	}
	there := map[int]bool{}
	for _, t := range r.parts.Topics {
		for _, s := range t.Schemas {
			if p.postgres == nil || there[s.Number] {
				continue
			}
			there[s.Number] = true // a number is one schema, whatever topics it is of
			if p.registry == nil {
				p.registry = srfake.New()
				r.say("schemas   curl %s/subjects", p.registry.URL())
			}
			p.registry.SeedSchema(t.Names[0]+s.Of, 1, s.Number, sr.Schema{Schema: s.Text})
		}
	}
}

func (r *run) topics() map[string]int32 {
	topics := map[string]int32{}
	for _, t := range r.parts.Topics {
		for _, name := range t.Names {
			topics[name] = r.Partitions
		}
	}
	return topics
}

// contents are the files of the migrations, by name.
func contents(dir string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	files := map[string]string{}
	for _, path := range paths {
		data, wrong := os.ReadFile(path)
		err = errors.Join(err, wrong)
		files[filepath.Base(path)] = string(data)
	}
	return files, err
}

// keep applies the migrations that are new to the database as it is. It reports false if that
// cannot stay: there is none yet, a topic is new, or a migration changed that was applied.
func (r *run) keep(ctx context.Context) (bool, error) {
	p := r.place
	if p.postgres == nil || p.broker == nil {
		return false, nil
	}
	files, err := contents(r.parts.Migrations)
	if err != nil {
		return false, err
	}
	for name, content := range p.applied {
		if files[name] != content {
			r.say("%s changed after it was applied: starting with an empty database", name)
			return false, nil
		}
	}
	if !maps.Equal(p.topics, r.topics()) {
		r.say("the topics changed: starting with an empty database")
		return false, nil
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, applied := p.applied[name]; applied {
			continue
		}
		if err := p.migrate(ctx, name, files[name]); err != nil {
			return false, err
		}
		p.applied[name] = files[name]
		r.say("%s was applied", name)
	}
	return true, nil
}

// migrate applies one migration.
func (p *place) migrate(ctx context.Context, name, content string) error {
	alone, err := os.MkdirTemp("", "idemgen-dev-migration-")
	if err != nil {
		return err
	}
	err = os.WriteFile(filepath.Join(alone, name), []byte(content), 0o600)
	if err == nil {
		err = p.postgres.Migrate(ctx, alone)
	}
	return errors.Join(err, os.RemoveAll(alone))
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
