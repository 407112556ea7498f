package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// reader is a Source over a log without end: record n is "call n". It does what [idem.Sink]
// asks of a Source.
type reader struct{ handed atomic.Int64 }

func (r *reader) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	a := rig.NewSource(nil).Assignment
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
		err = sink.Deliver(ctx, a.Partition, rig.Records(n, fmt.Sprintf("call %d", n)))
		r.handed.Add(1)
	}
	return err
}

// Bug: a worker that was fenced fences again at once.
func TestTwoDeploymentsOfOneNameDoNotDuel(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	s := rig.Service{
		Edit: func(s *wire.Service) { s.Limits.BatchTimeout = time.Second },
		Handle: func(ctx context.Context, tx idem.Tx, row int32) error { // most of what a transaction may take
			_, err := tx.Exec(ctx, `INSERT INTO t SELECT $1, 1 FROM pg_sleep(0.5)`, row)
			return err
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 2)
	var consumers []*rig.Consumer
	for range 2 {
		c := s.Consumer(t, db)
		consumers = append(consumers, c)
		go func() { done <- c.Run(ctx, &reader{}) }()
	}
	rig.Eventually(t, db, "true", `SELECT (count(*) >= 18)::text FROM t`)
	for end := time.Now().Add(time.Minute); consumers[0].Stats().ForeignFences+consumers[1].Stats().ForeignFences == 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // on a busy machine the second one begins late
	}
	if n := rig.Query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'f'`); n > "4" || len(n) > 1 {
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
	rig.Lengthy(t)
	const batchTimeout = time.Second
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{Edit: func(s *wire.Service) { s.Limits.BatchTimeout = batchTimeout }}.Consumer(t, db))
	for fences, atLeast := range []time.Duration{2 * batchTimeout, 4 * batchTimeout} {
		rig.Assign(t, sink, 0)
		rig.AppendRow(t, db, "f", "next", "another process")
		rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(0, "put 1 1")))
		ctx, cancel := context.WithTimeout(t.Context(), atLeast-atLeast/8)
		defer cancel()
		if takeOver, err := sink.Standby(ctx, rig.First); err == nil {
			t.Errorf("after %d fences the partition was given after less than %v: %+v", fences+1, atLeast, takeOver)
		} else {
			rig.StandsStill(t, sink)
		}
	}
}

func TestOperatorGivesThePartitionBackAtOnce(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
	rig.AppendRow(t, db, "f", "next", "operator me: to act")
	rig.AppendRow(t, db, "s", "next + 4", "operator me: skipped")
	rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(1, "put 2 2")))
	rig.AtOnce(t, sink)
	rig.Assign(t, sink, 5)
	rig.Want(t, "foreign fences", c.Stats().ForeignFences, 0)
}

// A worker that waits for another one's tail to stand still comes back as soon as an
// operator appends.
func TestOperatorEndsTheStandby(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.AppendRow(t, db, "f", "next", "another process")
	rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(0, "put 1 1")))
	rig.AppendRow(t, db, "o", "next", "operator me: released")
	rig.AtOnce(t, sink)
}

// A record that comes after a long silence is first of all its owner's.
func TestRecordAfterASilenceIsLeftToTheOwner(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{Edit: func(s *wire.Service) { s.Limits.BatchTimeout = 500 * time.Millisecond }}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.AppendRow(t, db, "f", "next", "another process")
	rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(0, "put 1 1")))
	rig.StandsStill(t, sink)
	time.Sleep(3 * time.Second) // the silence, several times what standing by takes
	_, err := sink.Assigned(t.Context(), rig.NewSource(nil).Assignment)
	rig.WantError[*idem.FencedError](t, err)
	rig.StandsStill(t, sink)
	rig.Assign(t, sink, 0)
}

// Every halt ends by a row of an operator, without a restart.
func TestHaltedPartitionGoesOnAfterAnOperatorsRow(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	missing := true
	sink := rig.Drive(t, rig.Service{Handle: func(context.Context, idem.Tx, int32) error {
		if missing {
			return idem.ErrNotImplemented
		}
		return nil
	}}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(0, "call 1")))
	_, err := sink.Assigned(t.Context(), rig.NewSource(nil).Assignment)
	rig.WantError[*idem.HaltedError](t, err) // nobody acted
	missing = false
	rig.AppendRow(t, db, "o", "next", "operator me: the handler is there")
	rig.AtOnce(t, sink)
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "call 1"))
}

func TestHaltedPartitionWithoutALedgerGoesOnWhenItIsAdopted(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	a := rig.NewSource(nil).Assignment
	a.Committed = rig.CommittedAt(7)
	_, err := sink.Assigned(t.Context(), a)
	rig.WantError[*idem.HaltedError](t, err)
	idemtest.Exec(t, db, `WITH s AS (INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('test', $1, $2, 0) RETURNING stream)
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq, info)
SELECT stream, 0, gen_random_uuid(), 7, 7, 'g', 'o', -1, 1, 4, 0, 'operator me: adopted' FROM s`, rig.Topic, a.TopicID)
	rig.AtOnce(t, sink)
	rig.Assign(t, sink, 7)
}

// Failover to a standby that lost the tail: the worker goes on from the new tail at once,
// and nothing of its memory counts.
func TestLostTailIsFencedAtOnce(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "a: put 1 1"))
	rig.Deliver(t, sink, rig.Records(1, "b: put 2 2"))
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE next = 2; DELETE FROM t WHERE id = 2; DELETE FROM idem_keys WHERE seq = 3`)
	rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(2, "c: put 3 3")))
	rig.AtOnce(t, sink)
	rig.Assign(t, sink, 1)
	rig.Deliver(t, sink, rig.Records(1, "b: put 2 2", "c: put 3 3"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3")
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
			db := rig.Database(t)
			rig.Own(t, rig.Service{}.Consumer(t, db))
			idemtest.Exec(t, db, `UPDATE idem_stream SET topic_id = $1`, rig.NewSource(nil).Assignment.TopicID)
			idemtest.Exec(t, db, `UPDATE idem_ledger SET parts = 4`)
			sink := rig.Drive(t, rig.Service{Edit: func(s *wire.Service) {
				s.Limits.BatchTimeout = 500 * time.Millisecond // Standby looks often
				s.Topics[0].Ordered, s.Topics[0].Window = true, time.Hour
			}}.Consumer(t, db))
			stands := func() {
				t.Helper()
				_, err := sink.Assigned(t.Context(), rig.NewSource(nil).Assignment)
				rig.WantError[*idem.HaltedError](t, err)
			}
			rig.AppendRow(t, db, "o", "next", "operator me: released")
			idemtest.Exec(t, db, test.breaks)
			stands()
			rig.AtOnce(t, sink) // the row may be meant for this halt: nobody knows
			stands()
			idles(t, sink)
			rig.AppendRow(t, db, "o", "next", "operator me: released again")
			rig.AtOnce(t, sink)
			stands()
			idles(t, sink)
			idemtest.Exec(t, db, test.mends)
			rig.AppendRow(t, db, "o", "next", "operator me: mended")
			rig.AtOnce(t, sink)
			rig.Assign(t, sink, 0)
		})
	}
}
