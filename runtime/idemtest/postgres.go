package idemtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/postgres"
)

// PostgresOptions are the options of [StartPostgres]. With the zero value the server is fast, and
// loses its data if the machine crashes.
type PostgresOptions struct {
	Major   int               // version; 0 means $IDEMTEST_POSTGRES_MAJOR or, if that is not set, any from 14 on
	Durable bool              // fsync and similar settings stay on; the data is in the temporary folder, not in memory
	TCP     bool              // listen on a free port of 127.0.0.1, with a password; otherwise only on a Unix socket
	Conf    map[string]string // further settings, as in postgresql.conf
	Dir     string            // folder for the data; "" means that Durable determines it
	Env     []string          // added to the server's environment, NAME=value
}

// own returns the options of a server that this package starts.
func (o PostgresOptions) own(major int) postgres.Options {
	return postgres.Options{Major: major, Durable: o.Durable, TCP: o.TCP, Conf: o.Conf, Dir: o.Dir, Env: o.Env}
}

// Postgres is a server for a program that is not a test, such as a demo or a benchmark; tests
// use [DB].
type Postgres struct {
	url    string
	server *postgres.Server // nil if it is somebody else's
	admin  *pgxpool.Pool    // on the server's own database
}

// StartPostgres starts a server, which runs until Close, or until this process ends, even if it
// crashes. If $IDEMTEST_DATABASE_URL is set, and o leaves Major, Durable and Conf unset, it
// creates a database on that server instead, and ignores the other options. ctx applies only to
// the start.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	if admin := os.Getenv(postgres.EnvURL); admin != "" && o.Major == 0 && !o.Durable && len(o.Conf) == 0 {
		return useServer(ctx, admin)
	}
	major, err := majorWanted(o.Major)
	if err != nil {
		return nil, err
	}
	s, err := postgres.Start(ctx, o.own(major))
	if err != nil {
		return nil, err
	}
	return started(ctx, s)
}

// started is a server that was started here.
func started(ctx context.Context, s *postgres.Server) (*Postgres, error) {
	admin, err := pgxpool.New(ctx, s.URL()) // connects when it is first used
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Postgres{url: s.URL(), server: s, admin: admin}, nil
}

// URL returns the URL of an empty database, with a superuser.
func (p *Postgres) URL() string { return p.url }

// Close stops the server and removes its data. On the server of $IDEMTEST_DATABASE_URL it only
// drops the database.
func (p *Postgres) Close() error {
	defer p.admin.Close()
	if p.server != nil {
		return p.server.Close()
	}
	return dropDatabase(context.Background(), p.admin, p.url)
}

// useServer creates a database on a server that is already running.
func useServer(ctx context.Context, url string) (*Postgres, error) {
	admin, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("$%s: %w", postgres.EnvURL, err)
	}
	own, err := newDatabase(ctx, admin, "")
	if err != nil {
		admin.Close()
		return nil, fmt.Errorf("cannot create a database on the server that $%s names (unset it, and tests start a server of their own): %w", postgres.EnvURL, err)
	}
	return &Postgres{url: own, admin: admin}, nil
}

func majorWanted(major int) (int, error) {
	text := os.Getenv(postgres.EnvMajor)
	if major != 0 || text == "" {
		return major, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < postgres.OldestMajor {
		return 0, fmt.Errorf("%s=%s: want a number from %d on", postgres.EnvMajor, text, postgres.OldestMajor)
	}
	return n, nil
}

// newDatabase creates a database, empty or as a copy of template, and returns its URL.
func newDatabase(ctx context.Context, admin *pgxpool.Pool, template string) (string, error) {
	name := "idemtest_" + strings.ToLower(rand.Text()[:16])
	own, err := withDatabase(admin.Config().ConnString(), name)
	if err != nil {
		return "", err
	}
	conn, err := admin.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Release()
	sql := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize()
	if template != "" {
		sql += " TEMPLATE " + pgx.Identifier{template}.Sanitize()
		if !strings.HasPrefix(conn.Conn().PgConn().ParameterStatus("server_version"), "14") {
			// As Postgres 14 does: half the work, and the first connection finds the catalog cached.
			sql += " STRATEGY file_copy"
		}
	}
	_, err = conn.Exec(ctx, sql)
	return own, err
}

// dropDatabase drops the database whose URL is own, and closes its connections.
func dropDatabase(ctx context.Context, admin *pgxpool.Pool, own string) error {
	name, err := databaseOf(own)
	if err != nil {
		return err
	}
	_, err = admin.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
	return err
}

func withDatabase(admin, name string) (string, error) {
	u, err := url.Parse(admin)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", errors.New("want a URL such as postgres://user:password@host:5432/postgres") // err would show the password
	}
	u.Path = "/" + name
	return u.String(), nil
}

func databaseOf(own string) (string, error) {
	config, err := pgx.ParseConfig(own)
	if err != nil {
		return "", err
	}
	return config.Database, nil
}
