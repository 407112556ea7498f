package idem_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// ownServer returns a server of the test's own, which may be crashed, and a pool on it.
func ownServer(t *testing.T) (*idemtest.Postgres, *pgxpool.Pool) {
	t.Helper()
	server, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{TCP: true, Durable: true}) // else a crash takes commits back
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	db, err := pgxpool.New(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	migrate(t, db)
	return server, db
}

func do(t *testing.T, order func() error) {
	t.Helper()
	if err := order(); err != nil {
		t.Fatal(err)
	}
}

// soon is how long a person may wait to be told, and a partition for a database that is back.
const soon = 30 * time.Second

func within(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", soon, what)
		}
	}
}

// tells reports whether Health says a text of a partition.
func tells(c *idem.Consumer, p, text string) bool {
	err := c.Health().Err()
	if err == nil {
		return false
	}
	for line := range strings.Lines(err.Error()) {
		if strings.HasPrefix(line, p) && strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// twoPartitions assigns two partitions, each with a record applied.
func twoPartitions(t *testing.T, sink idem.Sink) []idem.Partition {
	t.Helper()
	list := []idem.Partition{first, {Topic: topic, Number: 1}}
	for _, p := range list {
		a := newSource(nil).assignment
		a.Partition = p
		if _, err := sink.Assigned(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if err := sink.Deliver(t.Context(), p, recordsOf(p, 0, "put 1 1")); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func recordsOf(p idem.Partition, from int64, texts ...string) []idem.Message {
	list := records(from, texts...)
	for i := range list {
		list[i].Partition = p.Number
	}
	return list
}

// Records that are the first to meet a dead database: each partition says so at once, in
// Health and in one line of the log, and goes on as soon as the database is back.
func TestOutageIsToldAtOnceAndOnce(t *testing.T) {
	lengthy(t)
	server, db := ownServer(t)
	log, option := logged()
	c := service{options: []idem.Option{option}}.consumer(t, db)
	sink := drive(t, c)
	list := twoPartitions(t, sink)
	do(t, server.Crash)
	time.Sleep(1100 * time.Millisecond) // the pool looks at connections that were idle for a second
	done := make(chan error, len(list))
	for _, p := range list {
		go func() { done <- sink.Deliver(t.Context(), p, recordsOf(p, 1, "put 2 2")) }()
	}
	for _, p := range []string{"test.v1/0: ", "test.v1/1: "} {
		within(t, "Health of "+p, func() bool { return tells(c, p, "no connection to the database: connection refused (127.0.0.1:") })
	}
	time.Sleep(4 * time.Second) // several tries
	for _, partition := range []string{"partition=0", "partition=1"} {
		lines := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "partition makes no progress") && strings.Contains(line, partition) {
				lines++
			}
		}
		if lines < 1 || lines > 2 { // a connection may have been lost before none could be had
			t.Errorf("%s: %d lines of one outage:\n%s", partition, lines, log)
		}
	}
	do(t, server.Restart)
	back := time.Now()
	for range list {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(back); took > soon/2 {
		t.Errorf("the records waited for %v after the database was back", took)
	}
	if err := c.Health().Err(); err != nil {
		t.Errorf("after the outage: %v", err)
	}
	want(t, "rows", table(t, db), "1=1 2=2")
	want(t, "lines that it is over", strings.Count(log.String(), `msg=partition consumer=test topic=test.v1 partition=0 state=READY`), 2)
}

// A take-over that meets a dead database says so, and goes on as soon as it is back: the
// Source need not ask again.
func TestTakeOverWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	server, db := ownServer(t)
	c := service{}.consumer(t, db)
	sink := drive(t, c)
	do(t, server.Crash)
	done := make(chan error, 1)
	go func() {
		_, err := sink.Assigned(t.Context(), newSource(nil).assignment)
		if err != nil { // of a connection that was lost with the server; the Source asks again
			_, err = sink.Assigned(t.Context(), newSource(nil).assignment)
		}
		done <- err
	}()
	within(t, "Health", func() bool { return tells(c, "test.v1/0: FENCING: ", "connection refused") })
	do(t, server.Restart)
	back := time.Now()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if took := time.Since(back); took > soon {
		t.Errorf("it waited for %v after the database was back", took)
	}
}

// A password that is changed on one side first is an outage, not a reason to stand until a
// person acts.
func TestChangedPasswordIsWaitedOut(t *testing.T) {
	lengthy(t)
	_, db := ownServer(t)
	c := service{}.consumer(t, withRole(t, db, "clerk", "old"))
	sink := drive(t, c)
	assign(t, sink, 0)
	idemtest.Exec(t, db, `ALTER ROLE clerk PASSWORD 'new'`)
	idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'clerk'`)
	time.Sleep(1100 * time.Millisecond) // the pool looks at connections that were idle for a second
	done := make(chan error, 1)
	go func() { done <- sink.Deliver(t.Context(), first, records(0, "put 1 1")) }()
	within(t, "Health", func() bool { return tells(c, "test.v1/0: ", "wrong user or password: SQLSTATE 28P01") })
	if text := c.Health().Err().Error(); strings.Contains(text, "HALTED") || strings.Contains(text, "old") {
		t.Errorf("Health: %s", text)
	}
	idemtest.Exec(t, db, `ALTER ROLE clerk PASSWORD 'old'`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// withRole returns a pool as a role that may do everything.
func withRole(t *testing.T, db *pgxpool.Pool, role, password string) *pgxpool.Pool {
	t.Helper()
	idemtest.Exec(t, db, `CREATE ROLE `+role+` SUPERUSER LOGIN PASSWORD '`+password+`'`)
	cfg := db.Config()
	cfg.ConnConfig.User, cfg.ConnConfig.Password = role, password
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// A service that never reached its database is not healthy, and says why in one line.
func TestDatabaseThatWasNeverReachedIsTold(t *testing.T) {
	lengthy(t)
	server, db := ownServer(t)
	log, option := logged()
	c := service{options: []idem.Option{option}}.consumer(t, db)
	if err := c.Health().Err(); err == nil {
		t.Error("healthy before Run")
	}
	do(t, server.Crash)
	ctx, cancel := context.WithCancel(t.Context())
	done, running := make(chan error, 1), make(hand, 1)
	go func() { done <- c.Run(ctx, running) }()
	within(t, "Health", func() bool {
		err := c.Health().Err()
		return err != nil && strings.Contains(err.Error(), "the database has not been reached since the start: no connection to the database: connection refused")
	})
	time.Sleep(time.Second)
	want(t, "lines", strings.Count(log.String(), "level=ERROR"), 1)
	do(t, server.Restart)
	select {
	case <-running:
	case <-time.After(soon):
		t.Fatalf("not running %v after the database was back", soon)
	}
	if err := c.Health().Err(); err == nil || !strings.Contains(err.Error(), "the group has not assigned its partitions yet") {
		t.Errorf("before the group says anything: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := c.Health().Err(); err == nil {
		t.Error("healthy after Run has ended")
	}
}

// What the Source says of its group is in Health, and in the log once.
func TestGroupIsInHealth(t *testing.T) {
	t.Parallel()
	log, option := logged()
	c := service{options: []idem.Option{option}}.consumer(t, database(t))
	sink := drive(t, c)
	for range 3 {
		sink.Group(errors.New("no broker of b:9092 answers"))
	}
	want(t, "Health", c.Health().Err().Error(), "no broker of b:9092 answers")
	want(t, "lines", strings.Count(log.String(), "level=ERROR"), 1)
	sink.Group(nil)
	if err := c.Health().Err(); err != nil {
		t.Errorf("a member without partitions: %v", err)
	}
	want(t, "lines that it is over", strings.Count(log.String(), "the service makes progress"), 1)
}
