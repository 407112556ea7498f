package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/users/directory"
	"github.com/idemgen/idemgen/internal/kit/kafkatest"
	"github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/confluent/producer"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

const folder = "examples/users/"

// database is a server of Postgres of one service.
type database struct {
	*idemtest.Postgres
	pool *pgxpool.Pool
}

// world is all that runs.
type world struct {
	debezium            bool
	brokers             string
	accounts, directory database
	sender              sender // of the events of accounts
	closes              []func() error
}

// open starts both services, and what is between them.
func (w *world) open(ctx context.Context) (err error) {
	var conf map[string]string
	if w.debezium {
		conf = map[string]string{"wal_level": "logical"}
	}
	if w.accounts, err = w.openDatabase(ctx, "accounts", conf); err != nil {
		return err
	}
	if w.directory, err = w.openDatabase(ctx, "directory", nil); err != nil {
		return err
	}
	if err := w.openBroker(ctx); err != nil {
		return err
	}
	if err := makeTopics(ctx, w.brokers, userTopic, personTopic); err != nil {
		return err
	}
	if w.debezium {
		w.sender, err = w.openConnect(ctx)
	} else {
		w.sender, err = w.openRelays()
	}
	if err != nil {
		return err
	}
	consumer, err := directory.NewConsumer(w.directory.pool)
	if err != nil {
		return err
	}
	sender, err := producer.New(w.brokers, nil)
	if err != nil {
		return err
	}
	relay := &outbox.Relay{DB: w.directory.pool, Producer: sender}
	w.beside("the relay of the directory", relay.Run, sender.Close)
	w.beside("the consumer", func(ctx context.Context) error {
		return consumer.Run(ctx, &confluent.Source{Brokers: w.brokers})
	})
	return nil
}

// openDatabase starts a server, and applies the migrations of a service.
func (w *world) openDatabase(ctx context.Context, service string, conf map[string]string) (d database, err error) {
	if d.Postgres, err = idemtest.StartPostgres(ctx, idemtest.PostgresOptions{TCP: w.debezium, Conf: conf}); err != nil {
		return d, err
	}
	w.closes = append(w.closes, d.Postgres.Close)
	if d.pool, err = pgxpool.New(ctx, d.URL()); err != nil {
		return d, err
	}
	w.closes = append(w.closes, func() error { d.pool.Close(); return nil })
	return d, d.Migrate(ctx, folder+service+"/migrations")
}

// openBroker starts the test kit's broker, or a real one.
func (w *world) openBroker(ctx context.Context) error {
	if w.debezium {
		broker, err := kafkatest.Run(ctx, nil)
		if err != nil {
			return err
		}
		w.brokers = broker.Addr()
		w.closes = append(w.closes, broker.Close)
		return nil
	}
	broker, err := idemtest.StartBroker(nil)
	if err != nil {
		return err
	}
	w.brokers = broker.Addr()
	w.closes = append(w.closes, func() error { broker.Close(); return nil })
	return nil
}

// beside runs a part until everything is closed. What it ends with before is an error.
func (w *world) beside(what string, run func(context.Context) error, closing ...func()) (end func() error) {
	ctx, stop := context.WithCancel(context.Background())
	var err error
	var all sync.WaitGroup
	all.Go(func() { err = run(ctx) })
	end = sync.OnceValue(func() error {
		stop()
		all.Wait()
		for _, c := range closing {
			c()
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
	w.closes = append(w.closes, end)
	return end
}

// close ends everything, the last first.
func (w *world) close() (err error) {
	for _, end := range slices.Backward(w.closes) {
		err = errors.Join(err, end())
	}
	return err
}

// until waits until something is so.
func until(ctx context.Context, what string, done func() (bool, error)) error {
	for end := time.Now().Add(patience); ; {
		switch ok, err := done(); {
		case err != nil:
			return fmt.Errorf("%s: %w", what, err)
		case ok:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%s: not within %v; -v shows the logs", what, patience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
