package idem_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtest/memlease"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

var account = wire.NewLock("accounts", "a")

// lockOf is the lock of account a in Postgres: its state, and how often it was had.
func lockOf(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return query(t, db, `SELECT coalesce(string_agg(state::text, ' '), '') FROM idem_lease WHERE consumer = $1 AND key = $2`, lease.Locks("accounts"), [16]byte(account.Key))
}

// rival has the lock of account a for as long as nobody ends it.
func rival(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	idemtest.Exec(t, db, `
INSERT INTO idem_lease AS l (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at)
VALUES ($1, $2, 0, 0, 'p', gen_random_uuid(), nextval('idem_fence'), 1, '1 hour', false, '1 hour', clock_timestamp() + interval '1 hour')
ON CONFLICT (consumer, key) DO UPDATE SET state = 'p', owner = excluded.owner, fence = excluded.fence, expires_at = excluded.expires_at`,
		lease.Locks("accounts"), [16]byte(account.Key))
}

// rivalEnds ends the time of whoever has a lock.
func rivalEnds(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	idemtest.Exec(t, db, `UPDATE idem_lease SET expires_at = clock_timestamp() WHERE consumer LIKE 'lock:%'`)
}

var long = wire.LockTerms{Lease: time.Minute}

// addRow adds a row whose number says how often the handler ran for it, to its end.
func addRow(ctx context.Context, tx idem.Tx, row int32) error {
	_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET v = t.v + 1`, row)
	return err
}

// Handlers of two processes and of two partitions each never run two at a time under one lock,
// whatever order the locks have in their batches, and each holder has a greater number.
func TestHandlersUnderOneLock(t *testing.T) {
	t.Parallel()
	for _, external := range []bool{false, true} {
		t.Run(fmt.Sprint("outside ", external), func(t *testing.T) {
			db := database(t)
			var mu sync.Mutex
			running, last := map[wire.Key]bool{}, map[wire.Key]int64{}
			s := service{locks: wire.LockTerms{Lease: time.Minute, External: external}, policy: impatient}
			s.handle = func(ctx context.Context, tx idem.Tx, row int32) error {
				d, _ := idem.DeliveryFrom(ctx)
				mu.Lock()
				if d.Lock.Name != "accounts" || running[d.Lock.Key] || d.Lock.Token < last[d.Lock.Key] || d.Lock.Token == 0 {
					t.Errorf("row %d runs under lock %+v behind token %d, beside another one: %v", row, d.Lock, last[d.Lock.Key], running[d.Lock.Key])
				}
				running[d.Lock.Key], last[d.Lock.Key] = true, d.Lock.Token
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				delete(running, d.Lock.Key)
				mu.Unlock()
				return addRow(ctx, tx, row)
			}
			if external {
				var store memlease.Store
				s.edit, s.options = func(w *wire.Service) { w.Leases = true }, []idem.Option{idem.WithLeases(&store)}
			}
			// Until the transaction has ended nobody else may have the lock, so that a handler that
			// counts what it finds, outside of Postgres, is told of all before it.
			var writers sync.WaitGroup
			for process := range 2 {
				c := s.consumer(t, db)
				for n := range int32(2) {
					partition := int32(2*process) + n
					w, err := c.Own(t.Context(), topic, partition, 0)
					if err != nil {
						t.Fatal(err)
					}
					writers.Go(func() {
						for batch := range int64(5) {
							msgs := records(3*batch, "locked 1 a", "locked 2 b", "put 9 9")
							if partition%2 == 1 {
								msgs = records(3*batch, "locked 2 b", "put 9 9", "locked 1 a")
							}
							for i := range msgs {
								msgs[i].Partition = partition
							}
							applyAll(t, w, msgs)
						}
					})
				}
			}
			writers.Wait()
			want(t, "rows", table(t, db), "1=20 2=20 9=9")
		})
	}
}

// applyAll applies records again until they are durable, as a Source does.
func applyAll(t testing.TB, w *idem.Writer, msgs []idem.Message) {
	for end := time.Now().Add(time.Minute); w.Next() <= msgs[len(msgs)-1].Offset; {
		if _, err := w.Apply(t.Context(), msgs); err != nil && time.Now().After(end) {
			t.Error(err)
			return
		}
	}
}

// Records before one that waits for its lock are passed, and while it waits no other lock is held
// and no transaction is open. What is behind it waits.
func TestRecordsBeforeALockGoOn(t *testing.T) {
	t.Parallel()
	db := database(t)
	rival(t, db)
	w := own(t, service{handle: addRow, locks: long}.consumer(t, db))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		applyAll(t, w, records(0, "put 1 1", "locked 2 b", "locked 3 a", "locked 4 c"))
	}()
	for query(t, db, `SELECT max(next)::text FROM idem_ledger`) != "2" {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond) // it asks again, and gets none
	want(t, "before it", table(t, db), "1=1 2=1")
	want(t, "locks that are held", query(t, db, `SELECT count(*)::text FROM idem_lease WHERE state = 'p'`), "1")
	want(t, "open transactions", query(t, db, `SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'`), "0")
	rivalEnds(t, db)
	<-ended
	want(t, "rows", table(t, db), "1=1 2=1 3=1 4=1")
	want(t, "locks that are held", query(t, db, `SELECT count(*)::text FROM idem_lease WHERE state = 'p'`), "0")
}

// A handler whose lock was lost hears of it, and its transaction does not commit, whatever it
// returns: another one may be at work.
func TestNothingCommitsWithoutItsLock(t *testing.T) {
	t.Parallel()
	db := database(t)
	var calls atomic.Int32
	w := own(t, service{locks: wire.LockTerms{Lease: 200 * time.Millisecond}, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		err := addRow(ctx, tx, row)
		if calls.Add(1) == 1 {
			rival(t, db)
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), idem.ErrLeaseLost) {
				t.Errorf("the context ended with %v", context.Cause(ctx))
			}
			want(t, "the next one's lock", lockOf(t, db), "p")
			rivalEnds(t, db)
		}
		return err
	}}.consumer(t, db))
	_, err := w.Apply(t.Context(), records(0, "locked 1 a"))
	wantText(t, err, "handler Test, offset 0", idem.ErrLeaseLost.Error())
	applyAll(t, w, records(0, "locked 1 a"))
	want(t, "calls", calls.Load(), 2)
	want(t, "rows", table(t, db), "1=1")
	want(t, "the lock", lockOf(t, db), "f")
}

// A lock is free behind the transaction, whatever became of it.
func TestALockIsFreeBehindItsTransaction(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"done": nil, "dead letter": idem.Permanent(errors.New("no")), "again": errors.New("not yet")} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			var states []string
			w := own(t, service{locks: long, policy: impatient, handle: func(context.Context, idem.Tx, int32) error {
				states = append(states, lockOf(t, db))
				return fails
			}}.consumer(t, db))
			for w.Next() == 0 {
				_, _ = w.Apply(t.Context(), records(0, "locked 1 a"))
				want(t, "the lock behind it", lockOf(t, db), "f")
			}
			if len(states) == 0 || slices.ContainsFunc(states, func(s string) bool { return s != "p" }) {
				t.Errorf("the lock while handlers ran: %q", states)
			}
		})
	}
}

// While nobody knows whether a transaction committed, others do not have its locks. Its owner gets
// them again at once, and gives them back when it is known.
func TestInDoubtNobodyElseHasTheLock(t *testing.T) {
	t.Parallel()
	for _, step := range []string{fault.BeforeCommit, fault.Reply} {
		t.Run(step, func(t *testing.T) {
			db := database(t)
			w := own(t, service{locks: long, handle: addRow}.consumer(t, db))
			crash := fault.With(t.Context(), func(s string) error {
				if s == step {
					return errors.New("the connection broke")
				}
				return nil
			})
			if _, err := w.Apply(crash, records(0, "locked 1 a")); err == nil {
				t.Fatal("no crash")
			}
			want(t, "the lock in doubt", lockOf(t, db), "p")
			began := time.Now()
			applyAll(t, w, records(0, "locked 1 a"))
			apply(t, w, records(1, "locked 1 a"))
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it waited %v for its own lock", took)
			}
			want(t, "the lock", lockOf(t, db), "f")
			want(t, "rows", table(t, db), "1=2")
		})
	}
}

// Who dies with a lock is waited for until its time is over.
func TestALockOfTheDeadIsTakenOver(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := service{locks: wire.LockTerms{Lease: 500 * time.Millisecond}, handle: addRow}
	first := own(t, s.consumer(t, db))
	crash := fault.With(t.Context(), func(s string) error {
		if s == fault.AfterLock {
			return errors.New("the process died")
		}
		return nil
	})
	if _, err := first.Apply(crash, records(0, "locked 1 a")); err == nil {
		t.Fatal("no crash")
	}
	want(t, "the lock of the dead", lockOf(t, db), "p")
	began := time.Now()
	applyAll(t, own(t, s.consumer(t, db)), records(0, "locked 1 a"))
	want(t, "rows", table(t, db), "1=1")
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("it had the lock after %v", took)
	}
}

// A replay whose lock another one has keeps no records waiting, and is done later.
func TestAReplayWaitsForItsLock(t *testing.T) {
	lengthy(t)
	db := database(t)
	fails := true
	w := own(t, service{locks: long, policy: impatient, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		if fails {
			return idem.Permanent(errors.New("no"))
		}
		return addRow(ctx, tx, row)
	}}.consumer(t, db))
	applyAll(t, w, records(0, "locked 1 a"))
	want(t, "letters", lettersNow(t, db), "0 d")
	fails = false
	rival(t, db)
	ask(t, db, "replay", 0)
	apply(t, w, nil)
	apply(t, w, records(1, "put 2 2"))
	want(t, "letters", lettersNow(t, db), "0 d r?")
	want(t, "rows", table(t, db), "2=2")
	rivalEnds(t, db)
	for end := time.Now().Add(20 * time.Second); lettersNow(t, db) != "0 r replayed" && time.Now().Before(end); {
		apply(t, w, nil)
	}
	want(t, "letters", lettersNow(t, db), "0 r replayed")
	want(t, "rows", table(t, db), "1=1 2=2")
	want(t, "the lock", lockOf(t, db), "f")
}
