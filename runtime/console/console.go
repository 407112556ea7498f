// Package console serves web pages about services in their database: what makes no progress and
// the ways out, dead letters, effects, the outbox, and what operators did. It shows the same facts
// as the commands stream, dead, find and doctor, and each page names the equal command.
//
//	pages, err := console.Handler(ctx, console.Options{
//		Database: readOnlyURL, // of a role that may only SELECT
//		Operator: operatorURL, // of the role that requests and releases
//		Hosts:    []string{"ops.example.com"},
//		Auth:     signedIn,
//		Specs:    []fs.FS{orders.Spec},
//	})
//	...
//	mux.Handle("/idemgen/", pages)
//
// A service that does not import the package links nothing of it. All links are relative, so the
// pages work under any prefix that ends in a slash. They work without JavaScript, load nothing
// from other hosts, and are protected by a Content-Security-Policy of their own.
//
// It must not import any package of this module but eventkey, explain, halt, operate, pgtable,
// record, view, visible and wire.
package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/view"
	"github.com/idemgen/idemgen/internal/pgtable"
)

// User is the person behind a request, and what this person may do. Everyone whom Auth accepts may
// read, without payloads.
type User struct {
	// Name is stored with everything that the user requests. It is required.
	Name string
	// Act permits requests: replay, discard, release, set.
	Act bool
	// Payload permits the view of the records of dead letters: their keys, headers and payloads.
	// Each view is logged. Values that the spec calls sensitive are hidden nevertheless.
	Payload bool
}

// Options configure [Handler].
type Options struct {
	// Database is the URL of the services' database, with a role that needs only SELECT on the
	// runtime's tables. Required. The console opens at most two connections with it.
	Database string
	// Operator is the URL of the same database with the role that changes it; docs/operations.md
	// lists its rights. If it is "", nobody can change anything. The console opens at most two
	// connections with it.
	Operator string
	// Auth returns the user behind a request. If it returns an error, or a User without Name, the
	// response is status 403, and the error is logged (Debug). Required. The console reads no
	// header and no cookie for this.
	Auth func(*http.Request) (User, error)
	// Hosts are the values of the Host header that are accepted, with the port if it is not the
	// default one. Required: a page of another site must not reach the console by a name that it
	// lets resolve to this host.
	Hosts []string
	// Specs are folders with idemgen.yaml, and the schemas that it names, of the consumers that the
	// pages are about. Without the spec of a consumer, no record of it is shown, and no guarantees.
	Specs []fs.FS
	// Environment is shown on each page, such as PRODUCTION; "" shows nothing.
	Environment string
	// Logger receives a line for each change that a user makes, for each view or download of a
	// payload, and for errors. The default is [slog.Default].
	Logger *slog.Logger
}

// Handler returns the pages. Its connections are closed when ctx is done. It connects when the
// first page is requested: a database that is down is reported by the pages.
func Handler(ctx context.Context, o Options) (http.Handler, error) {
	c := &console{auth: o.Auth, hosts: map[string]bool{}, environment: o.Environment, log: o.Logger, specs: map[string]*view.Spec{}}
	switch {
	case o.Auth == nil:
		return nil, errors.New("console: Options.Auth is nil: it must identify the user and the user's rights")
	case len(o.Hosts) == 0:
		return nil, errors.New("console: Options.Hosts is empty: list the host names under which the pages are served")
	case o.Database == "":
		return nil, errors.New("console: Options.Database is empty")
	}
	for _, host := range o.Hosts {
		c.hosts[strings.ToLower(host)] = true
	}
	if c.log == nil {
		c.log = slog.Default()
	}
	for _, folder := range o.Specs {
		spec, err := view.Read(folder)
		if err != nil {
			return nil, fmt.Errorf("console: Options.Specs: %w", err)
		}
		c.specs[spec.Consumer()] = spec
	}
	var err error
	if c.read, err = open(ctx, "Database", o.Database, true); err != nil {
		return nil, err
	}
	if o.Operator != "" {
		if c.write, err = open(ctx, "Operator", o.Operator, false); err != nil {
			return nil, err
		}
	}
	if c.pages, err = parse(); err != nil {
		return nil, err
	}
	go c.sample(ctx)
	return c.guarded(), nil
}

// console is the state behind the pages.
type console struct {
	auth        func(*http.Request) (User, error)
	hosts       map[string]bool
	environment string
	log         *slog.Logger
	specs       map[string]*view.Spec // by consumer
	read        *pgxpool.Pool
	write       *pgxpool.Pool // nil: nobody changes anything
	pages       *pages
	recent      cache
	samples     samples
	names       atomic.Value // of the consumers that were known last: []string
}

const (
	connections = 2
	// statementTime is how long a statement of a page may run.
	statementTime = 5 * time.Second
	// lockTime is how long a statement of a page may wait for a lock: the page then says who holds
	// it.
	lockTime = time.Second
	// requestTime is how long a page may take in all.
	requestTime = 15 * time.Second
)

// open returns a pool that connects when it is used.
func open(ctx context.Context, option, url string, readOnly bool) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil { // whose text may quote the password
		return nil, fmt.Errorf("console: Options.%s is not the URL of a database", option)
	}
	cfg.MaxConns, cfg.MinConns = connections, 0
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // a connection pooler may be in between
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		settings := fmt.Sprintf("SET application_name = 'idemgen-console'; SET statement_timeout = %d; SET lock_timeout = %d", statementTime.Milliseconds(), lockTime.Milliseconds())
		if readOnly {
			settings += "; SET default_transaction_read_only = on"
		}
		_, err := conn.Exec(ctx, settings)
		if err != nil {
			return err
		}
		planted, err := pgtable.Planted(ctx, conn)
		if err == nil && planted != nil {
			err = planted.Err()
		}
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err == nil {
		context.AfterFunc(ctx, pool.Close)
	}
	return pool, err
}
