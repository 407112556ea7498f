package main

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// servers are the Postgres servers of a fault.
type servers struct {
	postgres *idemtest.Postgres
	standby  *idemtest.Postgres // of postgres; nil if the fault wants none
	wire     *cutproxy.Proxy    // in front of Postgres; processes use it if the fault says so
	dsn      string             // what processes get
	disk     string             // folder of a file system of the server's own
	clock    string             // file with the seconds by which the server's clock is ahead
	files    string             // of the server that was copied
	copied   time.Time
	atCopy   map[int32]int64 // offsets that the ledger had passed
	restored []restore
	onClose  []func() error

	mu     sync.Mutex
	direct string // URL of the database that counts
}

// startServers starts a server as a fault wants it, with the tables of the service in dir.
func (s *servers) startServers(ctx context.Context, f fault, dir, setUp string) (err error) {
	o := f.postgres
	o.Durable, o.TCP = true, true
	if f.disk != "" {
		if o.Dir, err = s.mountDisk(f.disk); err != nil {
			return err
		}
	}
	if f.clock {
		if o.Env, err = s.makeClock(ctx); err != nil {
			return err
		}
	}
	if s.postgres, err = idemtest.StartPostgres(ctx, o); err != nil {
		return err
	}
	s.direct = s.postgres.URL()
	if s.wire, s.dsn, err = proxyFor(s.direct); err != nil {
		return err
	}
	if !f.proxied {
		s.dsn = s.direct
	}
	if err := s.postgres.Migrate(ctx, filepath.Join(dir, "migrations")); err != nil {
		return err
	}
	return s.exec(ctx, setUp)
}

// proxyFor puts a proxy in front of the server of a URL.
func proxyFor(direct string) (*cutproxy.Proxy, string, error) {
	u, err := url.Parse(direct)
	if err != nil {
		return nil, "", err
	}
	p, err := cutproxy.New("tcp", u.Host)
	if err != nil {
		return nil, "", err
	}
	u.Host = p.Addr().String()
	return p, u.String(), nil
}

func (s *servers) close() error {
	var errs []error
	if s.wire != nil {
		errs = append(errs, s.wire.Close())
	}
	if s.standby != nil {
		errs = append(errs, s.standby.Close())
	}
	if s.postgres != nil {
		errs = append(errs, s.postgres.Close())
	}
	for _, f := range s.onClose {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// database is the URL of the database that counts.
func (s *servers) database() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.direct
}

// follow makes another database the one that counts.
func (s *servers) follow(p *idemtest.Postgres) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.direct = p.URL()
}

// exec runs SQL on the database that counts.
func (s *servers) exec(ctx context.Context, sql string) error { return execAt(ctx, s.database(), sql) }

func execAt(ctx context.Context, at, sql string) error {
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}
