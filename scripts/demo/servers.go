package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

const example = "examples/orders"

// programs are the built binaries.
type programs struct{ dir, service string }

// build generates the example's code, and builds a command that runs it.
func build(ctx context.Context, command string) (programs, error) {
	dir, err := os.MkdirTemp("", "idemgen-demo-")
	if err != nil {
		return programs{}, err
	}
	err = stage.Go(ctx, "run", "./cmd/idemgen", "generate", "./"+example)
	if err == nil {
		err = stage.Build(ctx, dir, command)
	}
	if err != nil {
		return programs{}, errors.Join(err, os.RemoveAll(dir))
	}
	return programs{dir, filepath.Join(dir, filepath.Base(command))}, nil
}

// servers are a Postgres with the example's tables and a broker with its topic.
type servers struct {
	programs
	postgres *idemtest.Postgres
	broker   broker
}

func (s *servers) open(ctx context.Context, p idemtest.PostgresOptions, b idemtest.BrokerOptions) (err error) {
	if s.postgres, err = idemtest.StartPostgres(ctx, p); err != nil {
		return err
	}
	if s.broker, err = startBroker(ctx, b); err != nil {
		return err
	}
	return s.postgres.Migrate(ctx, filepath.Join(example, "migrations"))
}

// pages serves the console of the demo's database, until ctx ends, and returns its address.
func pages(ctx context.Context, database string) (address string, err error) {
	site, err := console.Local(ctx, "127.0.0.1:0", console.User{Name: "demo", Act: true, Payload: true}, console.Options{
		Database: database, Operator: database, Environment: "demo", Specs: []fs.FS{os.DirFS(example)}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return "", err
	}
	return site.URL, nil
}

func (s *servers) close() error {
	if s.broker != nil {
		s.broker.Close()
	}
	if s.postgres != nil {
		return s.postgres.Close()
	}
	return nil
}
