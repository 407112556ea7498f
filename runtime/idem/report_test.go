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
)

// reporting returns a consumer that writes only what has changed.
func reporting(t *testing.T, db *pgxpool.Pool, options ...idem.Option) *idem.Consumer {
	t.Helper()
	c := service{options: options}.consumer(t, db)
	c.ReportEvery(time.Hour)
	return c
}

// reports waits until the only process reports what is wanted.
func reports(t *testing.T, db *pgxpool.Pool, what string, is func(operate.Process) bool) operate.Process {
	t.Helper()
	var all []operate.Process
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
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
	db := database(t)
	c := reporting(t, db)
	sink := drive(t, c)
	if p := reports(t, db, "no partition", func(operate.Process) bool { return true }); p.Silent || p.More != 0 || len(p.Problems) != 1 || p.Problems[0].Code != "joining" || p.Problems[0].Do == "" {
		t.Errorf("at the start: %+v", p)
	}
	assign(t, sink, 0)
	deliver(t, sink, records(0, "k: put 1 1", "k: put 1 1", "put x"))
	ready := reports(t, db, "READY", state("READY"))
	if len(ready.Problems) != 0 {
		t.Errorf("problems: %+v", ready.Problems)
	}
	wantError[*idem.HaltedError](t, sink.Deliver(t.Context(), first, records(3, "put 2 2", "stop 1")))
	sink.End(first, 9, time.Time{})
	p := reports(t, db, "HALTED", state("HALTED"))
	is := p.Partitions[0]
	problem := c.Health()[0]
	if is.Code != string(halt.RecordRefused) || is.Reason == "" || is.Reason != problem.Reason || is.Do != problem.Do || !strings.HasPrefix(is.Do, "idemgen stream ") {
		t.Errorf("got %+v, want %+v", is, problem)
	}
	if is.Process != p.Name || is.Topic != topic || is.Position != 4 || is.Applied != 2 || is.Duplicates != 1 || is.Dead != 1 {
		t.Errorf("got %+v", is)
	}
	if is.Since.Sub(problem.Since).Abs() > time.Microsecond || is.Since.Before(ready.Partitions[0].Since) {
		t.Errorf("since %v, want %v", is.Since, problem.Since)
	}
	sink.Revoked(first)
	reports(t, db, "the partition was revoked", func(p operate.Process) bool { return len(p.Partitions) == 0 })
}

// An outage of the partition's own work is reported as it is, with the same words as in Health.
func TestReasonOfARetryIsReported(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{handle: func(context.Context, idem.Tx, int32) error { return idem.RetryAfter(time.Hour, errDone) }}.consumer(t, db)
	c.ReportEvery(time.Hour)
	sink := drive(t, c)
	assign(t, sink, 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sink.Deliver(ctx, first, records(0, "call 1")) }()
	is := reports(t, db, "RETRYING", state("RETRYING")).Partitions[0]
	if is.Code != "retrying" || is.Do == "" || !strings.Contains(is.Reason, errDone.Error()) || strings.Contains(is.Reason, "RETRYING") {
		t.Errorf("got %+v", is)
	}
	cancel()
	<-done
}

// The row of a process that has ended is gone.
func TestProcessThatEndsLeavesNoRow(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := reporting(t, db)
	src := newSource(records(0, "put 1 1"))
	src.then = func(context.Context, idem.Sink) { reports(t, db, "READY", state("READY")) }
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "rows", query(t, db, `SELECT count(*)::text FROM idem_process`), "0")
}

// A process whose report cannot be written applies records as always.
func TestBatchesDoNotWaitForAReport(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"locked": `LOCK idem_process`,
		"gone":   `ALTER TABLE idem_process RENAME TO away; COMMIT; BEGIN`,
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			var log bytes.Buffer
			c := reporting(t, db, idem.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			src := newSource(records(0, "put 1 1"))
			src.then = func(ctx context.Context, sink idem.Sink) {
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
				sink.Silent(first, time.Now(), "to be written")
				for n := range int64(20) {
					if err := sink.Deliver(ctx, first, records(1+n, "put 1 1")); err != nil {
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
			if err := src.run(t, c); err != nil {
				t.Fatal(err)
			}
			want(t, "applied", c.Stats().Applied, 21)
			if n := strings.Count(log.String(), "cannot report itself"); n != 1 {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
}

// A writer without a Source, which tests use, reports nothing.
func TestOwnedPartitionIsNotReported(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, reporting(t, db))
	apply(t, w, records(0, "put 1 1"))
	idemtest.Exec(t, db, `SELECT pg_sleep(1)`)
	want(t, "rows", query(t, db, `SELECT count(*)::text FROM idem_process`), "0")
}
