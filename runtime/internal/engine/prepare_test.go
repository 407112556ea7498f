package engine_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// registry is what records need to be decoded whose row is 9.
type registry struct{ away atomic.Bool }

func (r *registry) edit(s *wire.Service) {
	s.Topics[0].Prepare = func(_ context.Context, records []wire.Message) (int, error) {
		for i, m := range records {
			if !r.away.Load() || !bytes.Contains(m.Value, []byte(" 9 ")) {
				continue
			}
			if i > 0 {
				return i, nil
			}
			return 0, errors.New("the registry is away")
		}
		return len(records), nil
	}
}

// A record that cannot be decoded yet waits, and those behind it; what stands before it goes
// first. Nothing becomes a dead letter meanwhile, and Health says why.
func TestRecordThatCannotBeDecodedYetWaits(t *testing.T) {
	t.Parallel()
	db, r := rig.Database(t), &registry{}
	c := rig.Service{Edit: r.edit}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	r.away.Store(true)
	done := make(chan error)
	go func() {
		done <- sink.Deliver(t.Context(), rig.First, rig.Records(0, "put 1 1", "put 2 2", "put 9 3", "put 4 4"))
	}()
	rig.WaitFor(t, "Health tells", func() bool {
		err := c.Health().Err()
		return err != nil && strings.Contains(err.Error(), "RETRYING: the registry is away")
	})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
	r.away.Store(false)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 4=4 9=3")
	rig.Want(t, "letters", rig.Letters(t, db), "")
	if err := c.Health().Err(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A dead letter that cannot be decoded yet stays asked for; records go on.
func TestLetterThatCannotBeDecodedYetIsTriedAgain(t *testing.T) {
	t.Parallel()
	db, r := rig.Database(t), &registry{}
	w := rig.Own(t, rig.Service{Policy: wire.FailurePolicy{StopAfter: 5}, Edit: r.edit}.Consumer(t, db))
	rig.Want(t, "result", rig.Apply(t, w, rig.Records(0, "need 9 1", "put 1 1")), idem.Result{Applied: 1, Dead: 1})
	rig.Ask(t, db, "replay", 0)
	r.away.Store(true)
	rig.Want(t, "result", rig.Apply(t, w, rig.Records(2, "put 2 2")), idem.Result{Applied: 1})
	rig.Apply(t, w, nil)
	rig.Want(t, "the request stays", rig.LettersNow(t, db), "0 d r?")
	idemtest.Exec(t, db, `INSERT INTO t VALUES (9, 9)`) // before it is tried again: without it the letter would be answered
	r.away.Store(false)
	rig.WaitFor(t, "the letter is replayed", func() bool {
		rig.Apply(t, w, nil)
		return rig.LettersNow(t, db) == "0 r replayed"
	})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 9=1")
}

// A partition that is given up while it waits does not hold its Source up.
func TestWaitForWhatDecodesEndsWithThePartition(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	c := rig.Service{Edit: func(s *wire.Service) {
		s.Topics[0].Prepare = func(ctx context.Context, _ []wire.Message) (int, error) {
			asked <- struct{}{}
			<-ctx.Done()
			return 0, ctx.Err()
		}
	}}.Consumer(t, rig.Database(t))
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	done := make(chan error)
	go func() { done <- sink.Deliver(t.Context(), rig.First, rig.Records(0, "put 1 1")) }()
	<-asked
	began := time.Now()
	sink.Revoked(rig.First)
	if err := <-done; err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}
