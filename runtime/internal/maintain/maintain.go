// Package maintain bounds the size of the tables of one consumer: it rotates and drops generations
// of keys, and deletes rows of the ledger and dead letters that are no longer needed. Every
// process of a consumer may run it, but only one at a time. A run may be interrupted after each
// step: the next run continues from there. It never delays consumption for longer than a
// transaction may take, or for more than a tenth of the time. It must not import any package of
// this module but backoff, fault, generation and verdict.
package maintain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// Job is the upkeep of one consumer. It does not change rows of other consumers: the rows of a
// consumer that no longer runs stay.
type Job struct {
	Consumer string
	Schema   map[string]int // versions of the runtime's tables that it uses
	// Keep is the longest window of keys that all partitions share; 0 = there are none.
	Keep time.Duration
	// Shares reports whether the keys of a topic are shared.
	Shares func(topic string) bool
	// Transaction is longer than any transaction of the consumer. Rows of the ledger that are
	// younger stay.
	Transaction time.Duration
	// Connect opens a connection for the run, which closes it.
	Connect func(context.Context) (*pgx.Conn, error)
	Now     func() time.Time // this process's clock, only ever compared with the database's
	Log     *slog.Logger
	Expired *atomic.Int64 // counts the dead letters closed because keep had passed
	// Open receives the number of open dead letters, by class. Nil means that nobody asks.
	Open func(byClass map[string]int64)
	// Ran, if it is not nil, is called after each run with its duration, but not if another
	// process is running the upkeep.
	Ran func(took time.Duration, err error)

	complaint string // of the last run, so that it is logged once
	overdue   int    // last logged number of expired dead letters behind which records are parked
	told      time.Time
}

// rotations is how many generations begin in one window. Keys are kept for at least the window,
// and at most the window plus one rotation. A claim in a small open generation is cheaper: with a
// quarter of 10 million keys by 0.4 us less than with half of them, and less of the index is
// logged after a checkpoint. Each further sealed generation has a filter that all keys must pass:
// 45 ns.
const rotations = 4

// session are the settings of a maintenance connection, besides those of the runtime.
var session = []string{
	`SET lock_timeout = '20s'`,      // except for the seal, no transaction waits behind these locks
	`SET statement_timeout = '60s'`, // longer work continues in the next run
}

// Run runs the upkeep immediately and after each interval, until ctx is done. An error is logged
// once, and every hour while it stays the same.
func (j *Job) Run(ctx context.Context, interval time.Duration) {
	for {
		j.complain(ctx, j.Once(ctx))
		if !backoff.Sleep(ctx, interval) {
			return
		}
	}
}

// Once runs the upkeep once, unless another process is running it. An error of one part does not
// prevent the others.
func (j *Job) Once(ctx context.Context) error {
	began := time.Now()
	mine, err := j.once(ctx)
	if j.Ran != nil && (mine || err != nil) {
		j.Ran(time.Since(began), err)
	}
	return err
}

// once also reports whether this process ran the upkeep.
func (j *Job) once(ctx context.Context) (mine bool, err error) {
	conn, err := j.Connect(ctx)
	if err != nil {
		return false, err
	}
	defer closeUnlocked(ctx, conn)
	for _, sql := range session {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return false, err
		}
	}
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1, hashtext($2))`, upkeepLock, j.Consumer).Scan(&mine); err != nil || !mine {
		return false, err
	}
	clockError := j.clocks(ctx, conn)
	parts := []func(context.Context, *pgx.Conn) error{j.trim}
	if clockError == nil {
		// A seal by a clock that is behind would make its keys look older than they are.
		parts = append(parts, j.letters, j.count)
		if j.Schema["effects"] > 0 {
			parts = append(parts, j.leases)
		}
		if j.Schema["keys"] > 0 {
			parts = append(parts, j.rotate, j.drop, j.countKeys) // the last one may take long
		}
	}
	errs := []error{clockError}
	for _, part := range parts {
		errs = append(errs, part(ctx, conn))
		if conn.IsClosed() {
			break
		}
	}
	return true, errors.Join(errs...)
}

// closeUnlocked releases the locks and closes the connection. The server may notice the close
// late, and until then no other run could begin.
func closeUnlocked(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if !conn.IsClosed() {
		_, _ = conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`) // otherwise they end with the connection
	}
	_ = conn.Close(ctx)
}

// upkeepLock and the consumer's name identify the advisory lock of a run.
const upkeepLock = 0x1de36e6

// ClockTolerance is the largest difference between the clocks of this process and the database at
// which keys leave their windows and dead letters expire. A failover may have led to a server
// whose clock is wrong.
const ClockTolerance = 5 * time.Minute

// clocks compares the clocks.
func (j *Job) clocks(ctx context.Context, conn *pgx.Conn) error {
	var database time.Time
	before := j.Now()
	if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&database); err != nil {
		return err
	}
	return Apart(before, database, j.Now())
}

// Apart returns an error if the database's clock, read between two readings of this process's
// clock, differs by more than [ClockTolerance].
func Apart(before, database, after time.Time) error {
	if database.Before(before.Add(-ClockTolerance)) || database.After(after.Add(ClockTolerance)) {
		return finding(fmt.Sprintf("the clocks of this process and of the database are %v apart: nothing expires until they agree within %v",
			database.Sub(after).Abs().Round(time.Second), ClockTolerance))
	}
	return nil
}

// rotate opens the next generation of keys when it is time.
func (j *Job) rotate(ctx context.Context, conn *pgx.Conn) error {
	if j.Keep == 0 {
		return nil
	}
	open, due, err := generation.Due(ctx, conn, j.Consumer, j.Keep/rotations)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // the take-over of the first partition opens the first one
	}
	if err != nil || !due {
		return err
	}
	next, err := generation.Prepare(ctx, conn)
	if err != nil {
		return fmt.Errorf("make the next generation of keys: %w", err)
	}
	if err := fault.At(ctx, fault.Prepared); err != nil {
		return err
	}
	if err := generation.Rotate(ctx, conn, j.Consumer, open, next, j.Keep, j.Transaction); err != nil {
		return fmt.Errorf("seal generation %d of keys: %w", open, err)
	}
	j.Log.Info("generation of keys sealed", "generation", open, "open", next)
	return fault.At(ctx, fault.Rotated)
}

// countTime is how long the keys of one generation may be counted.
const countTime = 10 * time.Minute

// countKeys counts the keys of the generations that were sealed, so a restore that loses some is
// noticed.
func (j *Job) countKeys(ctx context.Context, conn *pgx.Conn) error {
	numbers, err := generation.Uncounted(ctx, conn, j.Consumer)
	if err != nil || len(numbers) == 0 {
		return err
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf(`SET statement_timeout = '%dms'`, countTime.Milliseconds())); err != nil {
		return err
	}
	for _, n := range numbers {
		if err := generation.Count(ctx, conn, j.Consumer, n); err != nil {
			return fmt.Errorf("count the keys of generation %d: %w", n, err)
		}
	}
	return nil
}

// drop drops the generations whose keys are out of every window.
func (j *Job) drop(ctx context.Context, conn *pgx.Conn) error {
	read, err := generation.ReadUntil(ctx, conn, j.Consumer, j.Shares)
	if err != nil {
		return err
	}
	numbers, err := generation.Expired(ctx, conn, j.Consumer, read, j.Keep, j.Transaction)
	if err != nil {
		return err
	}
	if len(numbers) == 0 {
		return j.kept(ctx, conn, read)
	}
	dropped, err := generation.Drop(ctx, conn, j.Consumer, numbers, j.Transaction)
	if len(dropped) > 0 {
		j.Log.Info("generations of keys dropped", "generations", dropped)
	}
	if err != nil {
		return fmt.Errorf("drop generations of keys: %w", err)
	}
	return nil
}

// kept returns an error if keys have been kept for twice their window, because a partition may
// still bring copies of them.
func (j *Job) kept(ctx context.Context, conn *pgx.Conn, read generation.Progress) error {
	is, err := generation.Overdue(ctx, conn, j.Consumer, 2*j.Keep, j.Transaction)
	if err != nil || !is {
		return err
	}
	at := "is not known to have been read to its end"
	if !read.Until.IsZero() {
		at = "was last read to its end at " + read.Until.UTC().Format(time.RFC3339)
	}
	return finding(fmt.Sprintf("keys are kept beyond their window: duplicates of their events may be among the records not read yet; %s %s: "+
		"is it paused, halted or behind, or has the consumer read no record with a later timestamp?", read.Last, at))
}

// finding is something wrong that the upkeep found although each statement succeeded.
type finding string

func (f finding) Error() string { return string(f) }

// complainAgain is the interval at which a lasting error is logged again.
const complainAgain = time.Hour

func (j *Job) complain(ctx context.Context, err error) {
	if err == nil {
		j.complaint = ""
		return
	}
	text := err.Error()
	if ctx.Err() != nil || text == j.complaint && time.Since(j.told) < complainAgain {
		return
	}
	j.complaint, j.told = text, time.Now()
	args := []any{"err", text}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "42501" {
		args = append(args, "grant", "the service's role lacks a right: docs/operations.md, roles and rights, lists all of them as GRANT statements; the role that owns the runtime's tables needs CREATE on their schema")
	}
	if _, own := errors.AsType[finding](err); !own && verdict.Unusable(err) { // consumption may wait for the same database, as Health then reports
		j.Log.Error("the runtime's tables are not maintained, because the database cannot be used; this is retried", args...)
		return
	}
	j.Log.Error("the runtime's tables are not maintained; consumption continues, but the tables grow", args...)
}
