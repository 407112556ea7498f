package effect_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

func TestEffectIsCalledOncePerEvent(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	w := rig.Own(t, p.Service(rig.Terms).Consumer(t, db))
	msgs := rig.Records(0, "a: effect 1", "put 5 5", "b: effect 2", "a: effect 1", "effect 3")
	res := rig.Apply(t, w, msgs)
	rig.Want(t, "duplicates", res.Duplicates, 1)
	for row := int32(1); row <= 3; row++ {
		rig.Want(t, fmt.Sprint("calls of row ", row), p.Count(row), 1)
		rig.Want(t, fmt.Sprint("rows ", row), rig.Query(t, db, `SELECT count(*)::text FROM t WHERE id = $1`, row), "1")
	}
	rig.Want(t, "leases", rig.Leases(t, db), "c c c")
	rig.Apply(t, w, rig.Records(5, "b: effect 2"))
	idemtest.Exec(t, db, `DELETE FROM idem_lease`)
	rig.Apply(t, rig.Own(t, p.Service(rig.Terms).Consumer(t, db)), rig.Records(6, "b: effect 2"))
	rig.Want(t, "calls after copies", p.Count(2), 1)
}

// A crash lets at most a call that was in flight happen again, and never one that was answered.
func TestEffectCrashes(t *testing.T) {
	rig.Lengthy(t)
	for step, calls := range map[string]int{fault.AfterLease: 1, fault.AfterCall: 2, fault.AfterDone: 1, fault.BeforeSend: 1, fault.Reply: 1} {
		t.Run(step, func(t *testing.T) {
			db := rig.Database(t)
			var p rig.Provider
			s := p.Service(rig.Terms)
			msgs := rig.Records(0, "a: effect 1", "put 5 5")
			if _, err := rig.Own(t, s.Consumer(t, db)).Apply(fault.With(t.Context(), rig.Lose(step)), msgs); err == nil {
				t.Fatal("no crash")
			}
			w, err := s.Consumer(t, db).Own(t.Context(), rig.Topic, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			rig.Apply(t, w, msgs)
			rig.Want(t, "calls", p.Count(1), calls)
			rig.Want(t, "rows", rig.Table(t, db), fmt.Sprintf("1=%d 5=5", calls))
			rig.Want(t, "leases", rig.Leases(t, db), "c")
		})
	}
}

// With if_interrupted: dead_letter nothing is called again, and a person hears of what was cut
// off.
func TestInterruptedEffectIsADeadLetter(t *testing.T) {
	t.Parallel()
	for step, letter := range map[string]string{fault.AfterLease: "0 interrupted", fault.AfterCall: "0 interrupted", fault.AfterDone: ""} {
		t.Run(step, func(t *testing.T) {
			db := rig.Database(t)
			var p rig.Provider
			s := p.Service(rig.Interrupts)
			msgs := rig.Records(0, "a: effect 1", "put 5 5")
			if _, err := rig.Own(t, s.Consumer(t, db)).Apply(fault.With(t.Context(), rig.Lose(step)), msgs); err == nil {
				t.Fatal("no crash")
			}
			before := p.Count(1)
			w := rig.Own(t, s.Consumer(t, db))
			rig.Apply(t, w, msgs)
			rig.Want(t, "calls", p.Count(1), before)
			rig.Want(t, "dead letters", rig.Letters(t, db), letter)
			if letter != "" {
				idemtest.Exec(t, db, `UPDATE idem_lease SET expires_at = clock_timestamp()`) // nobody decided for long
				rig.Apply(t, w, rig.Records(2, "a: effect 1"))
				rig.Want(t, "dead letters with a copy", rig.Letters(t, db), letter+", 2 interrupted")
				rig.Want(t, "leases", rig.Leases(t, db), "i")
			}
		})
	}
}

// Errors that leave open what the call did are told from those that say that it did nothing.
func TestEffectErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("refused")
	for _, c := range []struct {
		name   string
		terms  wire.EffectTerms
		err    func(nth int) error
		calls  int
		letter string
	}{
		{"once", rig.Terms, firstOnly(broken), 2, ""},
		{"always", rig.Terms, func(int) error { return broken }, 3, "0 effect"},
		{"for good", rig.Terms, func(int) error { return idem.Permanent(broken) }, 1, "0 effect"},
		{"later", rig.Terms, func(nth int) error {
			if nth <= 6 {
				return idem.RetryAfter(time.Millisecond, broken)
			}
			return nil
		}, 7, ""},
		{"cut off, may be called again", rig.Terms, firstOnly(context.DeadlineExceeded), 2, ""},
		{"cut off", rig.Interrupts, firstOnly(context.DeadlineExceeded), 1, "0 interrupted"},
		{"cut off, but nothing was done", rig.Interrupts, firstOnly(idem.NotDone(context.DeadlineExceeded)), 2, ""},
		{"unknown", rig.Interrupts, firstOnly(idem.Interrupted(broken)), 1, "0 interrupted"},
		{"not classified", rig.Interrupts, firstOnly(broken), 1, "0 interrupted"},
		{"never connected", rig.Interrupts, firstOnly(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), 2, ""},
		{"a nil pointer", rig.Terms, firstOnly((*rig.NilError)(nil)), 2, ""},
		{"a nil pointer that leaves open what was done", rig.Interrupts, firstOnly((*rig.NilError)(nil)), 1, "0 interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := rig.Database(t)
			p := rig.Provider{Call: func(_ context.Context, _ int32, nth int) error { return c.err(nth) }}
			w := rig.Own(t, p.Service(c.terms).Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "a: effect 1", "put 5 5"))
			rig.Want(t, "calls", p.Count(1), c.calls)
			rig.Want(t, "dead letters", rig.Letters(t, db), c.letter)
			rig.Want(t, "next", w.Next(), 2)
			if c.letter == "0 effect" { // a copy is called again: it is never refused for ever
				p.Call = nil
				rig.Apply(t, w, rig.Records(2, "a: effect 1"))
				rig.Want(t, "calls with a copy", p.Count(1), c.calls+1)
			}
		})
	}
}

func firstOnly(err error) func(nth int) error {
	return func(nth int) error {
		if nth == 1 {
			return err
		}
		return nil
	}
}

// A rebalance while a call is under way does not cut it off, and nobody calls a second time.
func TestEffectOutlivesItsPartition(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	p := rig.Provider{Call: func(ctx context.Context, _ int32, _ int) error {
		begun <- struct{}{}
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	s := p.Service(rig.Terms)
	sink := rig.Drive(t, s.Consumer(t, db))
	rig.Assign(t, sink, 0)
	delivered := make(chan error, 1)
	msgs := rig.Records(0, "a: effect 1", "put 5 5")
	go func() { delivered <- sink.Deliver(t.Context(), rig.First, msgs) }()
	<-begun
	sink.Revoked(rig.First)
	if err := <-delivered; err == nil {
		t.Fatal("a partition that was revoked delivered")
	}
	w := rig.Own(t, s.Consumer(t, db))
	applied := make(chan error, 1)
	go func() {
		_, err := w.Apply(t.Context(), msgs)
		applied <- err
	}()
	time.Sleep(2 * rig.Terms.Lease) // the heartbeat keeps the lease
	close(goOn)
	if err := <-applied; err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "calls", p.Count(1), 1)
	rig.Want(t, "rows", rig.Table(t, db), "1=1 5=5")
}

// A holder that lost its lease hears of it, and what it returns is dropped: one result is
// recorded.
func TestLostLease(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var ended atomic.Bool
	p := rig.Provider{Call: func(ctx context.Context, _ int32, nth int) error {
		if nth == 1 {
			idemtest.Exec(t, db, `UPDATE idem_lease SET owner = gen_random_uuid(), fence = nextval('idem_fence'), expires_at = clock_timestamp()`)
			<-ctx.Done()
			ended.Store(errors.Is(context.Cause(ctx), lease.ErrLost))
		}
		return nil // and answers all the same
	}}
	rig.Apply(t, rig.Own(t, p.Service(rig.Terms).Consumer(t, db)), rig.Records(0, "a: effect 1"))
	rig.Want(t, "heard of it", ended.Load(), true)
	rig.Want(t, "rows", rig.Table(t, db), "1=2")
	rig.Want(t, "result", rig.Query(t, db, `SELECT convert_from(result, 'UTF8') FROM idem_lease`), "2")
}

// The ledger takes only what the row holds under the token of the result.
func TestLedgerHoldsTheRecordedResult(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	w := rig.Own(t, p.Service(rig.Terms).Consumer(t, db))
	once := true
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeClaim && once { // a failover took back what was recorded, and another one called
			once = false
			idemtest.Exec(t, db, `UPDATE idem_lease SET fence = nextval('idem_fence'), result = '99'`)
		}
		return nil
	})
	if _, err := w.Apply(ctx, rig.Records(0, "a: effect 1")); err == nil {
		t.Fatal("a result that is not recorded was taken")
	}
	rig.Apply(t, w, rig.Records(0, "a: effect 1"))
	rig.Want(t, "rows", rig.Table(t, db), "1=99")
	rig.Want(t, "calls", p.Count(1), 1)
}

// Effects of one record key keep the order of its records; others run beside them.
func TestEffectsOfOneRecordKeyKeepTheirOrder(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var mu sync.Mutex
	var order []int32
	running, most, full := 0, 0, make(chan struct{})
	p := rig.Provider{Call: func(_ context.Context, row int32, _ int) error {
		mu.Lock()
		if running++; running == 8 && most < 8 {
			close(full)
		}
		most = max(most, running)
		mu.Unlock()
		if <-full; row == 1 {
			time.Sleep(100 * time.Millisecond)
		}
		mu.Lock()
		defer mu.Unlock()
		if running--; row < 10 {
			order = append(order, row)
		}
		return nil
	}}
	msgs := rig.Records(0, "effect 1", "effect 2", "effect 3")
	for i := range msgs {
		msgs[i].Key = []byte("k")
	}
	for i := range 30 {
		m := rig.Records(int64(3+i), fmt.Sprint("effect ", 10+i))[0]
		m.Key = fmt.Append(nil, i)
		msgs = append(msgs, m)
	}
	rig.Apply(t, rig.Own(t, p.Service(rig.Terms).Consumer(t, db)), msgs)
	rig.Want(t, "order", fmt.Sprint(order), "[1 2 3]")
	rig.Want(t, "most at the same time", most, 8)
}

// Upkeep forgets what became of effects after the window, but never one that is done and whose
// key the ledger has not, nor an interrupted one.
func TestUpkeepForgetsEffects(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	c := p.Service(rig.Terms).Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "a: effect 1", "b: effect 2", "c: effect 3", "d: effect 4", "e: effect 5", "f: effect 6"))
	idemtest.Exec(t, db, `UPDATE idem_lease SET forget_at = clock_timestamp() - interval '1 second' WHERE fence > 1`)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'i' WHERE fence = 2`)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'd' WHERE fence = 3`)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'd', key = gen_random_uuid() WHERE fence = 6`)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'f' WHERE fence = 4`)
	if err := c.Upkeep(t.Context()); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "leases", rig.Leases(t, db), "c i d")
}

// An effect that is not written halts its partition before the event, and so does one that the
// spec says to stop for.
func TestEffectHalts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		policy wire.FailurePolicy
	}{
		"not implemented": {idem.ErrNotImplemented, rig.Impatient},
		"give_up: stop":   {errors.New("refused"), wire.FailurePolicy{Stop: true}},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			p := rig.Provider{Call: func(context.Context, int32, int) error { return c.err }}
			s := p.Service(rig.Terms)
			s.Policy = c.policy
			w := rig.Own(t, s.Consumer(t, db))
			_, err := w.Apply(t.Context(), rig.Records(0, "put 5 5", "a: effect 1", "put 6 6"))
			rig.Want(t, "offset", rig.WantError[*idem.HaltedError](t, err).Offset, 1)
			rig.Want(t, "rows", rig.Table(t, db), "5=5")
		})
	}
}

// Copies on two partitions of one process ask for one lease at the same moment.
func TestCopiesOfAnEffectInTwoPartitions(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	p := rig.Provider{Call: func(context.Context, int32, int) error {
		time.Sleep(20 * time.Millisecond)
		return nil
	}}
	c := p.Service(rig.Terms).Consumer(t, db)
	var texts []string
	for row := range 10 {
		texts = append(texts, fmt.Sprintf("k%d: effect %d", row, row))
	}
	var all sync.WaitGroup
	for partition := range int32(2) {
		w, err := c.Own(t.Context(), rig.Topic, partition, 0)
		if err != nil {
			t.Fatal(err)
		}
		msgs := rig.Records(0, texts...)
		for i := range msgs {
			msgs[i].Partition = partition
		}
		all.Go(func() {
			for {
				if _, err := w.Apply(t.Context(), msgs); err == nil {
					return
				} else if _, halted := errors.AsType[*idem.HaltedError](err); halted {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	for row := range int32(10) {
		rig.Want(t, fmt.Sprint("calls of row ", row), p.Count(row), 1)
	}
}
