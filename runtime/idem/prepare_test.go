package idem_test

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
	db, r := database(t), &registry{}
	c := service{edit: r.edit}.consumer(t, db)
	sink := drive(t, c)
	assign(t, sink, 0)
	r.away.Store(true)
	done := make(chan error)
	go func() {
		done <- sink.Deliver(t.Context(), first, records(0, "put 1 1", "put 2 2", "put 9 3", "put 4 4"))
	}()
	waitFor(t, "Health tells", func() bool {
		err := c.Health().Err()
		return err != nil && strings.Contains(err.Error(), "RETRYING: the registry is away")
	})
	want(t, "rows", table(t, db), "1=1 2=2")
	r.away.Store(false)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want(t, "rows", table(t, db), "1=1 2=2 4=4 9=3")
	want(t, "letters", letters(t, db), "")
	if err := c.Health().Err(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A dead letter that cannot be decoded yet stays asked for; records go on.
func TestLetterThatCannotBeDecodedYetIsTriedAgain(t *testing.T) {
	t.Parallel()
	db, r := database(t), &registry{}
	w := own(t, service{policy: wire.FailurePolicy{StopAfter: 5}, edit: r.edit}.consumer(t, db))
	want(t, "result", apply(t, w, records(0, "need 9 1", "put 1 1")), idem.Result{Applied: 1, Dead: 1})
	ask(t, db, "replay", 0)
	r.away.Store(true)
	want(t, "result", apply(t, w, records(2, "put 2 2")), idem.Result{Applied: 1})
	apply(t, w, nil)
	want(t, "the request stays", lettersNow(t, db), "0 d r?")
	idemtest.Exec(t, db, `INSERT INTO t VALUES (9, 9)`) // before it is tried again: without it the letter would be answered
	r.away.Store(false)
	waitFor(t, "the letter is replayed", func() bool {
		apply(t, w, nil)
		return lettersNow(t, db) == "0 r replayed"
	})
	want(t, "rows", table(t, db), "1=1 2=2 9=1")
}

// A partition that is given up while it waits does not hold its Source up.
func TestWaitForWhatDecodesEndsWithThePartition(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	c := service{edit: func(s *wire.Service) {
		s.Topics[0].Prepare = func(ctx context.Context, _ []wire.Message) (int, error) {
			asked <- struct{}{}
			<-ctx.Done()
			return 0, ctx.Err()
		}
	}}.consumer(t, database(t))
	sink := drive(t, c)
	assign(t, sink, 0)
	done := make(chan error)
	go func() { done <- sink.Deliver(t.Context(), first, records(0, "put 1 1")) }()
	<-asked
	began := time.Now()
	sink.Revoked(first)
	if err := <-done; err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}
