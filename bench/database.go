package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// database is a durable server. Each run has an empty database on it.
type database struct {
	server *idemtest.Postgres
	admin  *pgx.Conn
}

// startDatabase starts the server. Checkpoints happen between the runs, not in them: whether one
// falls into a run would be chance.
func startDatabase(ctx context.Context) (*database, error) { return startDatabaseWith(ctx, nil) }

// startDatabaseWith starts the server with some settings of its own.
func startDatabaseWith(ctx context.Context, own map[string]string) (*database, error) {
	conf := map[string]string{"shared_buffers": "512MB", "max_wal_size": "8GB", "min_wal_size": "2GB", "checkpoint_timeout": "1h"}
	maps.Copy(conf, own)
	server, err := idemtest.StartPostgres(ctx, idemtest.PostgresOptions{Durable: true, Conf: conf})
	if err != nil {
		return nil, err
	}
	admin, err := pgx.Connect(ctx, server.URL())
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &database{server, admin}, nil
}

func (d *database) close() error {
	return errors.Join(d.admin.Close(context.Background()), d.server.Close())
}

// settings tells what the speed of commits depends on. A server that is not durable is an error.
func (d *database) settings(ctx context.Context) (string, error) {
	out := []string{}
	for _, name := range []string{"server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers"} {
		var value string
		if err := d.admin.QueryRow(ctx, "SHOW "+name).Scan(&value); err != nil {
			return "", err
		}
		if value == "off" {
			return "", fmt.Errorf("the server is not durable: %s is off", name)
		}
		out = append(out, name+" "+value)
	}
	return "PostgreSQL " + strings.TrimPrefix(strings.Join(out, ", "), "server_version "), nil
}

// own is the name of the database of the run.
const own = "bench_run"

// fresh makes an empty database with the tables of a log and returns its URL.
func (d *database) fresh(ctx context.Context, l log) (string, error) {
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + own + " WITH (FORCE)", "CREATE DATABASE " + own, "CHECKPOINT"} {
		if _, err := d.admin.Exec(ctx, sql); err != nil {
			return "", err
		}
	}
	url := strings.Replace(d.server.URL(), "/postgres?", "/"+own+"?", 1)
	return url, d.with(ctx, func(conn *pgx.Conn) error {
		return errors.Join(migrate(ctx, conn, l.migrations+"/*.sql"), migrate(ctx, conn, l.keys), migrate(ctx, conn, "bench/peers/migrations/*.sql"),
			script(ctx, conn, l.seed), script(ctx, conn, "ANALYZE"))
	})
}

// with connects to the database of the run.
func (d *database) with(ctx context.Context, do func(*pgx.Conn) error) error {
	config := d.admin.Config().Copy()
	config.Database = own
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(ctx))
}

// left tells how many records took effect, and a sum of what they left.
func (d *database) left(ctx context.Context, l log) (effects int, sum string, err error) {
	err = d.with(ctx, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, l.digest).Scan(&effects, &sum) })
	return effects, sum, err
}

// migrate applies the files that match a pattern in the order of their names.
func migrate(ctx context.Context, conn *pgx.Conn, pattern string) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, file := range files {
		sql, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := script(ctx, conn, string(sql)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// script runs a text of statements.
func script(ctx context.Context, conn *pgx.Conn, sql string) error {
	_, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}
