package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// Records that are the first to meet a dead database: each partition says so at once, in
// Health and in one line of the log, and goes on as soon as the database is back.
func TestOutageIsToldAtOnceAndOnce(t *testing.T) {
	rig.Lengthy(t)
	server, db := rig.OwnServer(t)
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option}}.Consumer(t, db)
	sink := rig.Drive(t, c)
	list := rig.TwoPartitions(t, sink)
	rig.Do(t, server.Crash)
	time.Sleep(1100 * time.Millisecond) // the pool looks at connections that were idle for a second
	done := make(chan error, len(list))
	for _, p := range list {
		go func() { done <- sink.Deliver(t.Context(), p, rig.RecordsOf(p, 1, "put 2 2")) }()
	}
	for _, p := range []string{"test.v1/0: ", "test.v1/1: "} {
		rig.Within(t, "Health of "+p, func() bool { return rig.Tells(c, p, "no connection to the database: connection refused (127.0.0.1:") })
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
	rig.Do(t, server.Restart)
	back := time.Now()
	for range list {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(back); took > rig.Soon/2 {
		t.Errorf("the records waited for %v after the database was back", took)
	}
	if err := c.Health().Err(); err != nil {
		t.Errorf("after the outage: %v", err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
	rig.Want(t, "lines that it is over", strings.Count(log.String(), `msg=partition consumer=test topic=test.v1 partition=0 state=READY`), 2)
}

// A take-over that meets a dead database says so, and goes on as soon as it is back: the
// Source need not ask again.
func TestTakeOverWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	server, db := rig.OwnServer(t)
	c := rig.Service{}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Do(t, server.Crash)
	done := make(chan error, 1)
	go func() {
		_, err := sink.Assigned(t.Context(), rig.NewSource(nil).Assignment)
		if err != nil { // of a connection that was lost with the server; the Source asks again
			_, err = sink.Assigned(t.Context(), rig.NewSource(nil).Assignment)
		}
		done <- err
	}()
	rig.Within(t, "Health", func() bool { return rig.Tells(c, "test.v1/0: FENCING: ", "connection refused") })
	rig.Do(t, server.Restart)
	back := time.Now()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if took := time.Since(back); took > rig.Soon {
		t.Errorf("it waited for %v after the database was back", took)
	}
}

// A password that is changed on one side first is an outage, not a reason to stand until a
// person acts.
func TestChangedPasswordIsWaitedOut(t *testing.T) {
	rig.Lengthy(t)
	_, db := rig.OwnServer(t)
	c := rig.Service{}.Consumer(t, withRole(t, db, "clerk", "old"))
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	idemtest.Exec(t, db, `ALTER ROLE clerk PASSWORD 'new'`)
	idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'clerk'`)
	time.Sleep(1100 * time.Millisecond) // the pool looks at connections that were idle for a second
	done := make(chan error, 1)
	go func() { done <- sink.Deliver(t.Context(), rig.First, rig.Records(0, "put 1 1")) }()
	rig.Within(t, "Health", func() bool { return rig.Tells(c, "test.v1/0: ", "wrong user or password: SQLSTATE 28P01") })
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
	rig.Lengthy(t)
	server, db := rig.OwnServer(t)
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option}}.Consumer(t, db)
	if err := c.Health().Err(); err == nil {
		t.Error("healthy before Run")
	}
	rig.Do(t, server.Crash)
	ctx, cancel := context.WithCancel(t.Context())
	done, running := make(chan error, 1), make(rig.Hand, 1)
	go func() { done <- c.Run(ctx, running) }()
	rig.Within(t, "Health", func() bool {
		err := c.Health().Err()
		return err != nil && strings.Contains(err.Error(), "the database has not been reached since the start: no connection to the database: connection refused")
	})
	time.Sleep(time.Second)
	rig.Want(t, "lines", strings.Count(log.String(), "level=ERROR"), 1)
	rig.Do(t, server.Restart)
	select {
	case <-running:
	case <-time.After(rig.Soon):
		t.Fatalf("not running %v after the database was back", rig.Soon)
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
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option}}.Consumer(t, rig.Database(t))
	sink := rig.Drive(t, c)
	for range 3 {
		sink.Group(errors.New("no broker of b:9092 answers"))
	}
	rig.Want(t, "Health", c.Health().Err().Error(), "no broker of b:9092 answers")
	rig.Want(t, "lines", strings.Count(log.String(), "level=ERROR"), 1)
	sink.Group(nil)
	if err := c.Health().Err(); err != nil {
		t.Errorf("a member without partitions: %v", err)
	}
	rig.Want(t, "lines that it is over", strings.Count(log.String(), "the service makes progress"), 1)
}
