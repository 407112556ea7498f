package idem_test

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

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// provider is what effects call: it counts the calls of each row, and answers with a number that
// no other call gets.
type provider struct {
	mu    sync.Mutex
	calls map[int32]int
	n     int32
	key   idem.Key                                            // of the last call
	call  func(ctx context.Context, row int32, nth int) error // before it answers; or nil
}

func (p *provider) effect(ctx context.Context, row int32) (int32, error) {
	p.mu.Lock()
	if p.calls == nil {
		p.calls = map[int32]int{}
	}
	p.calls[row]++
	p.n++
	nth, answer := p.calls[row], p.n
	if d, ok := idem.DeliveryFrom(ctx); ok {
		p.key = d.Key
	}
	p.mu.Unlock()
	if p.call != nil {
		if err := p.call(ctx, row, nth); err != nil {
			return 0, err
		}
	}
	return answer, nil
}

func (p *provider) count(row int32) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[row]
}

var terms = wire.EffectTerms{Lease: time.Second, Timeout: 5 * time.Second, Keep: time.Hour}

var interrupts = wire.EffectTerms{Lease: 300 * time.Millisecond, Timeout: 5 * time.Second, Keep: time.Hour, Interrupts: true}

func (p *provider) service(terms wire.EffectTerms) service {
	return service{effect: p.effect, terms: terms, policy: impatient}
}

// leases are the leases as "state state", in the order of their tokens.
func leases(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return query(t, db, `SELECT coalesce(string_agg(state::text, ' ' ORDER BY fence), '') FROM idem_lease`)
}

func TestEffectIsCalledOncePerEvent(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	w := own(t, p.service(terms).consumer(t, db))
	msgs := records(0, "a: effect 1", "put 5 5", "b: effect 2", "a: effect 1", "effect 3")
	res := apply(t, w, msgs)
	want(t, "duplicates", res.Duplicates, 1)
	for row := int32(1); row <= 3; row++ {
		want(t, fmt.Sprint("calls of row ", row), p.count(row), 1)
		want(t, fmt.Sprint("rows ", row), query(t, db, `SELECT count(*)::text FROM t WHERE id = $1`, row), "1")
	}
	want(t, "leases", leases(t, db), "c c c")
	apply(t, w, records(5, "b: effect 2"))
	idemtest.Exec(t, db, `DELETE FROM idem_lease`)
	apply(t, own(t, p.service(terms).consumer(t, db)), records(6, "b: effect 2"))
	want(t, "calls after copies", p.count(2), 1)
}

// A crash lets at most a call that was in flight happen again, and never one that was answered.
func TestEffectCrashes(t *testing.T) {
	lengthy(t)
	for step, calls := range map[string]int{fault.AfterLease: 1, fault.AfterCall: 2, fault.AfterDone: 1, fault.BeforeSend: 1, fault.Reply: 1} {
		t.Run(step, func(t *testing.T) {
			db := database(t)
			var p provider
			s := p.service(terms)
			msgs := records(0, "a: effect 1", "put 5 5")
			if _, err := own(t, s.consumer(t, db)).Apply(fault.With(t.Context(), lose(step)), msgs); err == nil {
				t.Fatal("no crash")
			}
			w, err := s.consumer(t, db).Own(t.Context(), topic, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			apply(t, w, msgs)
			want(t, "calls", p.count(1), calls)
			want(t, "rows", table(t, db), fmt.Sprintf("1=%d 5=5", calls))
			want(t, "leases", leases(t, db), "c")
		})
	}
}

// With if_interrupted: dead_letter nothing is called again, and a person hears of what was cut
// off.
func TestInterruptedEffectIsADeadLetter(t *testing.T) {
	t.Parallel()
	for step, letter := range map[string]string{fault.AfterLease: "0 interrupted", fault.AfterCall: "0 interrupted", fault.AfterDone: ""} {
		t.Run(step, func(t *testing.T) {
			db := database(t)
			var p provider
			s := p.service(interrupts)
			msgs := records(0, "a: effect 1", "put 5 5")
			if _, err := own(t, s.consumer(t, db)).Apply(fault.With(t.Context(), lose(step)), msgs); err == nil {
				t.Fatal("no crash")
			}
			before := p.count(1)
			w := own(t, s.consumer(t, db))
			apply(t, w, msgs)
			want(t, "calls", p.count(1), before)
			want(t, "dead letters", letters(t, db), letter)
			if letter != "" {
				idemtest.Exec(t, db, `UPDATE idem_lease SET expires_at = clock_timestamp()`) // nobody decided for long
				apply(t, w, records(2, "a: effect 1"))
				want(t, "dead letters with a copy", letters(t, db), letter+", 2 interrupted")
				want(t, "leases", leases(t, db), "i")
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
		{"once", terms, firstOnly(broken), 2, ""},
		{"always", terms, func(int) error { return broken }, 3, "0 effect"},
		{"for good", terms, func(int) error { return idem.Permanent(broken) }, 1, "0 effect"},
		{"later", terms, func(nth int) error {
			if nth <= 6 {
				return idem.RetryAfter(time.Millisecond, broken)
			}
			return nil
		}, 7, ""},
		{"cut off, may be called again", terms, firstOnly(context.DeadlineExceeded), 2, ""},
		{"cut off", interrupts, firstOnly(context.DeadlineExceeded), 1, "0 interrupted"},
		{"cut off, but nothing was done", interrupts, firstOnly(idem.NotDone(context.DeadlineExceeded)), 2, ""},
		{"unknown", interrupts, firstOnly(idem.Interrupted(broken)), 1, "0 interrupted"},
		{"not classified", interrupts, firstOnly(broken), 1, "0 interrupted"},
		{"never connected", interrupts, firstOnly(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), 2, ""},
		{"a nil pointer", terms, firstOnly((*nilError)(nil)), 2, ""},
		{"a nil pointer that leaves open what was done", interrupts, firstOnly((*nilError)(nil)), 1, "0 interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := database(t)
			p := provider{call: func(_ context.Context, _ int32, nth int) error { return c.err(nth) }}
			w := own(t, p.service(c.terms).consumer(t, db))
			apply(t, w, records(0, "a: effect 1", "put 5 5"))
			want(t, "calls", p.count(1), c.calls)
			want(t, "dead letters", letters(t, db), c.letter)
			want(t, "next", w.Next(), 2)
			if c.letter == "0 effect" { // a copy is called again: it is never refused for ever
				p.call = nil
				apply(t, w, records(2, "a: effect 1"))
				want(t, "calls with a copy", p.count(1), c.calls+1)
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
	db := database(t)
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	p := provider{call: func(ctx context.Context, _ int32, _ int) error {
		begun <- struct{}{}
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	s := p.service(terms)
	sink := drive(t, s.consumer(t, db))
	assign(t, sink, 0)
	delivered := make(chan error, 1)
	msgs := records(0, "a: effect 1", "put 5 5")
	go func() { delivered <- sink.Deliver(t.Context(), first, msgs) }()
	<-begun
	sink.Revoked(first)
	if err := <-delivered; err == nil {
		t.Fatal("a partition that was revoked delivered")
	}
	w := own(t, s.consumer(t, db))
	applied := make(chan error, 1)
	go func() {
		_, err := w.Apply(t.Context(), msgs)
		applied <- err
	}()
	time.Sleep(2 * terms.Lease) // the heartbeat keeps the lease
	close(goOn)
	if err := <-applied; err != nil {
		t.Fatal(err)
	}
	want(t, "calls", p.count(1), 1)
	want(t, "rows", table(t, db), "1=1 5=5")
}

// A holder that lost its lease hears of it, and what it returns is dropped: one result is
// recorded.
func TestLostLease(t *testing.T) {
	t.Parallel()
	db := database(t)
	var ended atomic.Bool
	p := provider{call: func(ctx context.Context, _ int32, nth int) error {
		if nth == 1 {
			idemtest.Exec(t, db, `UPDATE idem_lease SET owner = gen_random_uuid(), fence = nextval('idem_fence'), expires_at = clock_timestamp()`)
			<-ctx.Done()
			ended.Store(errors.Is(context.Cause(ctx), lease.ErrLost))
		}
		return nil // and answers all the same
	}}
	apply(t, own(t, p.service(terms).consumer(t, db)), records(0, "a: effect 1"))
	want(t, "heard of it", ended.Load(), true)
	want(t, "rows", table(t, db), "1=2")
	want(t, "result", query(t, db, `SELECT convert_from(result, 'UTF8') FROM idem_lease`), "2")
}

// The ledger takes only what the row holds under the token of the result.
func TestLedgerHoldsTheRecordedResult(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	w := own(t, p.service(terms).consumer(t, db))
	once := true
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeClaim && once { // a failover took back what was recorded, and another one called
			once = false
			idemtest.Exec(t, db, `UPDATE idem_lease SET fence = nextval('idem_fence'), result = '99'`)
		}
		return nil
	})
	if _, err := w.Apply(ctx, records(0, "a: effect 1")); err == nil {
		t.Fatal("a result that is not recorded was taken")
	}
	apply(t, w, records(0, "a: effect 1"))
	want(t, "rows", table(t, db), "1=99")
	want(t, "calls", p.count(1), 1)
}

// Effects of one record key keep the order of its records; others run beside them.
func TestEffectsOfOneRecordKeyKeepTheirOrder(t *testing.T) {
	t.Parallel()
	db := database(t)
	var mu sync.Mutex
	var order []int32
	running, most, full := 0, 0, make(chan struct{})
	p := provider{call: func(_ context.Context, row int32, _ int) error {
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
	msgs := records(0, "effect 1", "effect 2", "effect 3")
	for i := range msgs {
		msgs[i].Key = []byte("k")
	}
	for i := range 30 {
		m := records(int64(3+i), fmt.Sprint("effect ", 10+i))[0]
		m.Key = fmt.Append(nil, i)
		msgs = append(msgs, m)
	}
	apply(t, own(t, p.service(terms).consumer(t, db)), msgs)
	want(t, "order", fmt.Sprint(order), "[1 2 3]")
	want(t, "most at the same time", most, 8)
}

// Upkeep forgets what became of effects after the window, but never one that is done and whose
// key the ledger has not, nor an interrupted one.
func TestUpkeepForgetsEffects(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	c := p.service(terms).consumer(t, db)
	apply(t, own(t, c), records(0, "a: effect 1", "b: effect 2", "c: effect 3", "d: effect 4", "e: effect 5", "f: effect 6"))
	idemtest.Exec(t, db, `UPDATE idem_lease SET forget_at = clock_timestamp() - interval '1 second' WHERE fence > 1`)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'i' WHERE fence = 2`)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'd' WHERE fence = 3`)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'd', key = gen_random_uuid() WHERE fence = 6`)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'f' WHERE fence = 4`)
	if err := c.Upkeep(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "leases", leases(t, db), "c i d")
}

// An effect that is not written halts its partition before the event, and so does one that the
// spec says to stop for.
func TestEffectHalts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		policy wire.FailurePolicy
	}{
		"not implemented": {idem.ErrNotImplemented, impatient},
		"give_up: stop":   {errors.New("refused"), wire.FailurePolicy{Stop: true}},
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			p := provider{call: func(context.Context, int32, int) error { return c.err }}
			s := p.service(terms)
			s.policy = c.policy
			w := own(t, s.consumer(t, db))
			_, err := w.Apply(t.Context(), records(0, "put 5 5", "a: effect 1", "put 6 6"))
			want(t, "offset", wantError[*idem.HaltedError](t, err).Offset, 1)
			want(t, "rows", table(t, db), "5=5")
		})
	}
}

// Copies on two partitions of one process ask for one lease at the same moment.
func TestCopiesOfAnEffectInTwoPartitions(t *testing.T) {
	t.Parallel()
	db := database(t)
	p := provider{call: func(context.Context, int32, int) error {
		time.Sleep(20 * time.Millisecond)
		return nil
	}}
	c := p.service(terms).consumer(t, db)
	var texts []string
	for row := range 10 {
		texts = append(texts, fmt.Sprintf("k%d: effect %d", row, row))
	}
	var all sync.WaitGroup
	for partition := range int32(2) {
		w, err := c.Own(t.Context(), topic, partition, 0)
		if err != nil {
			t.Fatal(err)
		}
		msgs := records(0, texts...)
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
		want(t, fmt.Sprint("calls of row ", row), p.count(row), 1)
	}
}
