package idem_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// reporting returns a consumer that writes only what has changed.
func reporting(t *testing.T, db *pgxpool.Pool, options ...idem.Option) *rig.Consumer {
	t.Helper()
	c := rig.Service{Options: options}.Consumer(t, db)
	c.ReportEvery(time.Hour)
	return c
}

// reports waits until the only process reports what is wanted.
func reports(t *testing.T, db *pgxpool.Pool, what string, is func(operate.Process) bool) operate.Process {
	t.Helper()
	var all []operate.Process
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var err error
		if all, err = operate.Processes(t.Context(), db, "test"); err != nil {
			t.Fatal(err)
		}
		if len(all) == 1 && is(all[0]) {
			return all[0]
		}
	}
	t.Fatalf("not reported: %s; got %+v", what, all)
	return operate.Process{}
}

// state is a condition of the only partition.
func state(want string) func(operate.Process) bool {
	return func(p operate.Process) bool { return len(p.Partitions) == 1 && p.Partitions[0].State == want }
}

// A halted partition is in the database at once, with its reason and its command.
func TestHaltIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := reporting(t, db)
	sink := rig.Drive(t, c)
	if p := reports(t, db, "no partition", func(operate.Process) bool { return true }); p.Silent || p.More != 0 || len(p.Problems) != 1 || p.Problems[0].Code != "joining" || p.Problems[0].Do == "" {
		t.Errorf("at the start: %+v", p)
	}
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "k: put 1 1", "k: put 1 1", "put x"))
	ready := reports(t, db, "READY", state("READY"))
	if len(ready.Problems) != 0 {
		t.Errorf("problems: %+v", ready.Problems)
	}
	rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(3, "put 2 2", "stop 1")))
	sink.End(rig.First, 9, time.Time{})
	p := reports(t, db, "HALTED", state("HALTED"))
	is := p.Partitions[0]
	problem := c.Health()[0]
	if is.Code != string(halt.RecordRefused) || is.Reason == "" || is.Reason != problem.Reason || is.Do != problem.Do || !strings.HasPrefix(is.Do, "idemgen stream ") {
		t.Errorf("got %+v, want %+v", is, problem)
	}
	if is.Process != p.Name || is.Topic != rig.Topic || is.Position != 4 || is.Applied != 2 || is.Duplicates != 1 || is.Dead != 1 {
		t.Errorf("got %+v", is)
	}
	if is.Since.Sub(problem.Since).Abs() > time.Microsecond || is.Since.Before(ready.Partitions[0].Since) {
		t.Errorf("since %v, want %v", is.Since, problem.Since)
	}
	sink.Revoked(rig.First)
	reports(t, db, "the partition was revoked", func(p operate.Process) bool { return len(p.Partitions) == 0 })
}

// An outage of the partition's own work is reported as it is, with the same words as in Health.
func TestReasonOfARetryIsReported(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{Handle: func(context.Context, idem.Tx, int32) error { return idem.RetryAfter(time.Hour, rig.ErrDone) }}.Consumer(t, db)
	c.ReportEvery(time.Hour)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sink.Deliver(ctx, rig.First, rig.Records(0, "call 1")) }()
	is := reports(t, db, "RETRYING", state("RETRYING")).Partitions[0]
	if is.Code != "retrying" || is.Do == "" || !strings.Contains(is.Reason, rig.ErrDone.Error()) || strings.Contains(is.Reason, "RETRYING") {
		t.Errorf("got %+v", is)
	}
	cancel()
	<-done
}

// The row of a process that has ended is gone.
func TestProcessThatEndsLeavesNoRow(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := reporting(t, db)
	src := rig.NewSource(rig.Records(0, "put 1 1"))
	src.Then = func(context.Context, idem.Sink) { reports(t, db, "READY", state("READY")) }
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "rows", rig.Query(t, db, `SELECT count(*)::text FROM idem_process`), "0")
}

// A process whose report cannot be written applies records as always.
func TestBatchesDoNotWaitForAReport(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"locked": `LOCK idem_process`,
		"gone":   `ALTER TABLE idem_process RENAME TO away; COMMIT; BEGIN`,
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			var log bytes.Buffer
			c := reporting(t, db, idem.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			src := rig.NewSource(rig.Records(0, "put 1 1"))
			src.Then = func(ctx context.Context, sink idem.Sink) {
				reports(t, db, "READY", state("READY"))
				conn, err := db.Acquire(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Release()
				if _, err := conn.Exec(ctx, `BEGIN; `+sql); err != nil {
					t.Error(err)
					return
				}
				sink.Silent(rig.First, time.Now(), "to be written")
				for n := range int64(20) {
					if err := sink.Deliver(ctx, rig.First, rig.Records(1+n, "put 1 1")); err != nil {
						t.Error(err)
					}
					time.Sleep(100 * time.Millisecond) // two writes fail meanwhile
				}
				if all := c.Health(); len(all) != 1 || all[0].Code != "silent" {
					t.Errorf("health: %v", all.Err())
				}
				if _, err := conn.Exec(ctx, `ROLLBACK`); err != nil {
					t.Error(err)
				}
			}
			if err := src.Consume(t, c); err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "applied", c.Stats().Applied, 21)
			if n := strings.Count(log.String(), "cannot report itself"); n != 1 {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
}

// A writer without a Source, which tests use, reports nothing.
func TestOwnedPartitionIsNotReported(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, reporting(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 1"))
	idemtest.Exec(t, db, `SELECT pg_sleep(1)`)
	rig.Want(t, "rows", rig.Query(t, db, `SELECT count(*)::text FROM idem_process`), "0")
}
