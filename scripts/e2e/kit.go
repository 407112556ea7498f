package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/kit/kafkatest"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// kit is what all checks share.
type kit struct {
	options
	dir     string // of the programs
	service *model.Service
	broker  *kafkatest.Broker
	// replicas of a topic; 0 is one
	replicas int
	source   func() (*source, error) // Debezium, which starts beside the first checks
}

const orders = "examples/orders"

func open(ctx context.Context, o options, chosen []check) (_ *kit, err error) {
	k := &kit{options: o, source: func() (*source, error) { return nil, nil }}
	if k.dir, err = os.MkdirTemp("", "idemgen-e2e-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	err = stage.Build(ctx, k.dir, "cmd/idemgen", orders+"/cmd/order-projector", "scripts/faults/service", "scripts/faults/sender", "scripts/e2e/mailer", "examples/users/cmd/demo")
	if err != nil {
		return nil, err
	}
	if k.service, err = audit.ReadSpec(orders); err != nil {
		return nil, err
	}
	if k.broker, err = kafkatest.Run(ctx, nil); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(chosen, func(c check) bool { return c.connect }) {
		k.source = begin(func() (*source, error) { return openSource(ctx, k) })
	}
	return k, nil
}

// begin calls f beside the caller, and returns what waits for it.
func begin[T any](f func() (T, error)) func() (T, error) {
	var result T
	var err error
	var done sync.WaitGroup
	done.Go(func() { result, err = f() })
	return func() (T, error) {
		done.Wait()
		return result, err
	}
}

func (k *kit) close() error {
	var errs []error
	if s, _ := k.source(); s != nil {
		errs = append(errs, s.close())
	}
	if k.broker != nil {
		errs = append(errs, k.broker.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(k.dir))...)
}

// program is the path of a program that was built.
func (k *kit) program(name string) string { return filepath.Join(k.dir, name) }

func (k *kit) serverLogs() string {
	text := "Kafka:\n" + k.broker.Log()
	if s, _ := k.source(); s != nil {
		text += "\nConnect:\n" + s.connect.Log()
	}
	return text
}

// database is a server of Postgres with a pool.
type database struct {
	*idemtest.Postgres
	pool *pgxpool.Pool
}

// openDatabase starts a server, and runs SQL there.
func openDatabase(ctx context.Context, conf map[string]string, sql ...string) (_ *database, err error) {
	d := &database{}
	if d.Postgres, err = idemtest.StartPostgres(ctx, idemtest.PostgresOptions{TCP: true, Conf: conf}); err != nil {
		return nil, err
	}
	if d.pool, err = pgxpool.New(ctx, d.URL()); err != nil {
		return nil, errors.Join(err, d.Postgres.Close())
	}
	for _, text := range sql {
		if _, err := d.pool.Exec(ctx, text); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare the database: %w", err), d.close())
		}
	}
	return d, nil
}

func (d *database) close() error {
	d.pool.Close()
	return d.Postgres.Close()
}

// count asks for one number.
func (d *database) count(ctx context.Context, sql string, args ...any) (n int, err error) {
	err = d.pool.QueryRow(ctx, sql, args...).Scan(&n)
	return n, err
}
