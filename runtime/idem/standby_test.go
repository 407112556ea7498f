package idem_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// reader is a Source over a log without end: record n is "call n". It does what [idem.Sink]
// asks of a Source.
type reader struct{ handed atomic.Int64 }

func (r *reader) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	a := newSource(nil).assignment
	defer sink.Revoked(a.Partition)
	for ctx.Err() == nil {
		err := r.read(ctx, sink, a)
		if errors.As(err, new(*idem.FencedError)) || errors.As(err, new(*idem.HaltedError)) {
			_, err = sink.Standby(ctx, a.Partition) // a record always waits
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

func (r *reader) read(ctx context.Context, sink idem.Sink, a idem.Assignment) error {
	at, err := sink.Assigned(ctx, a)
	for n := at.Offset; err == nil && ctx.Err() == nil; n++ {
		err = sink.Deliver(ctx, a.Partition, records(n, fmt.Sprintf("call %d", n)))
		r.handed.Add(1)
	}
	return err
}

// eventually waits until a query answers want.
func eventually(t testing.TB, db *pgxpool.Pool, want, sql string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got := query(t, db, sql)
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %s, want %s: %s", got, want, sql)
		}
	}
}

// Bug: a worker that was fenced fences again at once.
func TestTwoDeploymentsOfOneNameDoNotDuel(t *testing.T) {
	lengthy(t)
	db := database(t)
	s := service{
		edit: func(s *wire.Service) { s.Limits.BatchTimeout = time.Second },
		handle: func(ctx context.Context, tx idem.Tx, row int32) error { // most of what a transaction may take
			_, err := tx.Exec(ctx, `INSERT INTO t SELECT $1, 1 FROM pg_sleep(0.5)`, row)
			return err
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 2)
	var consumers []*idem.Consumer
	for range 2 {
		c := s.consumer(t, db)
		consumers = append(consumers, c)
		go func() { done <- c.Run(ctx, &reader{}) }()
	}
	eventually(t, db, "true", `SELECT (count(*) >= 18)::text FROM t`)
	for end := time.Now().Add(30 * time.Second); consumers[0].Stats().ForeignFences+consumers[1].Stats().ForeignFences == 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // on a busy machine the second one begins late
	}
	if n := query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'f'`); n > "4" || len(n) > 1 {
		t.Errorf("%s fences", n)
	}
	if consumers[0].Health().Err() == nil && consumers[1].Health().Err() == nil {
		t.Error("nobody says that two deployments share a name")
	}
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if f := consumers[0].Stats().ForeignFences + consumers[1].Stats().ForeignFences; f < 1 {
		t.Error("the foreign fence was not counted")
	}
}

// Bug: standing by is shorter than a transaction, so that an owner that is in the
// middle of one counts as gone. Each fence of another doubles it.
func TestStandbyLastsLongerThanTransactions(t *testing.T) {
	lengthy(t)
	const batchTimeout = time.Second
	db := database(t)
	sink := drive(t, service{edit: func(s *wire.Service) { s.Limits.BatchTimeout = batchTimeout }}.consumer(t, db))
	for fences, atLeast := range []time.Duration{2 * batchTimeout, 4 * batchTimeout} {
		assign(t, sink, 0)
		appendRow(t, db, "f", "next", "another process")
		wantError[*idem.FencedError](t, sink.Deliver(t.Context(), first, records(0, "put 1 1")))
		ctx, cancel := context.WithTimeout(t.Context(), atLeast-atLeast/8)
		defer cancel()
		if takeOver, err := sink.Standby(ctx, first); err == nil {
			t.Errorf("after %d fences the partition was given after less than %v: %+v", fences+1, atLeast, takeOver)
		} else {
			standsStill(t, sink)
		}
	}
}

func TestOperatorGivesThePartitionBackAtOnce(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	sink := drive(t, c)
	assign(t, sink, 0)
	deliver(t, sink, records(0, "put 1 1"))
	appendRow(t, db, "f", "next", "operator me: to act")
	appendRow(t, db, "s", "next + 4", "operator me: skipped")
	wantError[*idem.FencedError](t, sink.Deliver(t.Context(), first, records(1, "put 2 2")))
	now(t, sink)
	assign(t, sink, 5)
	want(t, "foreign fences", c.Stats().ForeignFences, 0)
}

// A worker that waits for another one's tail to stand still comes back as soon as an
// operator appends.
func TestOperatorEndsTheStandby(t *testing.T) {
	t.Parallel()
	db := database(t)
	sink := drive(t, service{}.consumer(t, db))
	assign(t, sink, 0)
	appendRow(t, db, "f", "next", "another process")
	wantError[*idem.FencedError](t, sink.Deliver(t.Context(), first, records(0, "put 1 1")))
	appendRow(t, db, "o", "next", "operator me: released")
	now(t, sink)
}

// A record that comes after a long silence is first of all its owner's.
func TestRecordAfterASilenceIsLeftToTheOwner(t *testing.T) {
	t.Parallel()
	db := database(t)
	sink := drive(t, service{edit: func(s *wire.Service) { s.Limits.BatchTimeout = 500 * time.Millisecond }}.consumer(t, db))
	assign(t, sink, 0)
	appendRow(t, db, "f", "next", "another process")
	wantError[*idem.FencedError](t, sink.Deliver(t.Context(), first, records(0, "put 1 1")))
	standsStill(t, sink)
	time.Sleep(3 * time.Second) // the silence, several times what standing by takes
	_, err := sink.Assigned(t.Context(), newSource(nil).assignment)
	wantError[*idem.FencedError](t, err)
	standsStill(t, sink)
	assign(t, sink, 0)
}

// Every halt ends by a row of an operator, without a restart.
func TestHaltedPartitionGoesOnAfterAnOperatorsRow(t *testing.T) {
	lengthy(t)
	db := database(t)
	missing := true
	sink := drive(t, service{handle: func(context.Context, idem.Tx, int32) error {
		if missing {
			return idem.ErrNotImplemented
		}
		return nil
	}}.consumer(t, db))
	assign(t, sink, 0)
	wantError[*idem.HaltedError](t, sink.Deliver(t.Context(), first, records(0, "call 1")))
	_, err := sink.Assigned(t.Context(), newSource(nil).assignment)
	wantError[*idem.HaltedError](t, err) // nobody acted
	missing = false
	appendRow(t, db, "o", "next", "operator me: the handler is there")
	now(t, sink)
	assign(t, sink, 0)
	deliver(t, sink, records(0, "call 1"))
}

func TestHaltedPartitionWithoutALedgerGoesOnWhenItIsAdopted(t *testing.T) {
	lengthy(t)
	db := database(t)
	sink := drive(t, service{}.consumer(t, db))
	a := newSource(nil).assignment
	a.Committed = committedAt(7)
	_, err := sink.Assigned(t.Context(), a)
	wantError[*idem.HaltedError](t, err)
	idemtest.Exec(t, db, `WITH s AS (INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('test', $1, $2, 0) RETURNING stream)
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq, info)
SELECT stream, 0, gen_random_uuid(), 7, 7, 'g', 'o', -1, 1, 4, 0, 'operator me: adopted' FROM s`, topic, a.TopicID)
	now(t, sink)
	assign(t, sink, 7)
}

// Failover to a standby that lost the tail: the worker goes on from the new tail at once,
// and nothing of its memory counts.
func TestLostTailIsFencedAtOnce(t *testing.T) {
	t.Parallel()
	db := database(t)
	sink := drive(t, service{}.consumer(t, db))
	assign(t, sink, 0)
	deliver(t, sink, records(0, "a: put 1 1"))
	deliver(t, sink, records(1, "b: put 2 2"))
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE next = 2; DELETE FROM t WHERE id = 2; DELETE FROM idem_keys WHERE seq = 3`)
	wantError[*idem.FencedError](t, sink.Deliver(t.Context(), first, records(2, "c: put 3 3")))
	now(t, sink)
	assign(t, sink, 1)
	deliver(t, sink, records(1, "b: put 2 2", "c: put 3 3"))
	want(t, "rows", table(t, db), "1=1 2=2 3=3")
}

// What an operator did counts once: if the partition still stands, the next row is
// waited for. That holds also where it halts before it reads its ledger.
func TestOperatorsRowCountsOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ breaks, mends string }{
		"behind the row": {`UPDATE idem_ledger SET parts = 7`, `UPDATE idem_ledger SET parts = 4`},
		"before the ledger is read": {
			`DELETE FROM idem_key_gen; ALTER TABLE idem_key_gen ADD COLUMN required integer NOT NULL`, `ALTER TABLE idem_key_gen ALTER COLUMN required DROP NOT NULL`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			own(t, service{}.consumer(t, db))
			idemtest.Exec(t, db, `UPDATE idem_stream SET topic_id = $1`, newSource(nil).assignment.TopicID)
			idemtest.Exec(t, db, `UPDATE idem_ledger SET parts = 4`)
			sink := drive(t, service{edit: func(s *wire.Service) {
				s.Limits.BatchTimeout = 500 * time.Millisecond // Standby looks often
				s.Topics[0].Ordered, s.Topics[0].Window = true, time.Hour
			}}.consumer(t, db))
			stands := func() {
				t.Helper()
				_, err := sink.Assigned(t.Context(), newSource(nil).assignment)
				wantError[*idem.HaltedError](t, err)
			}
			appendRow(t, db, "o", "next", "operator me: released")
			idemtest.Exec(t, db, test.breaks)
			stands()
			now(t, sink) // the row may be meant for this halt: nobody knows
			stands()
			idles(t, sink)
			appendRow(t, db, "o", "next", "operator me: released again")
			now(t, sink)
			stands()
			idles(t, sink)
			idemtest.Exec(t, db, test.mends)
			appendRow(t, db, "o", "next", "operator me: mended")
			now(t, sink)
			assign(t, sink, 0)
		})
	}
}
