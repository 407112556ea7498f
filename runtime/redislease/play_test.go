package redislease_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// play has processes make effects under leases, as a service does: all of them are handed every
// event. What they leave is one row for each event, in a ledger that refuses a second one.
type play struct {
	t         *testing.T
	open      func() lease.Store // of one process
	term      time.Duration      // of a lease
	interrupt bool
	call      func(process, event, nth int) // while it runs; or nil

	tokens atomic.Int64
	next   atomic.Int64 // the first event that nobody began
	last   atomic.Int64 // the first event that nobody begins

	mu       sync.Mutex
	calls    map[int]int
	recorded map[int]int    // completions that the store took
	ledger   map[int]string // results
}

const (
	processes = 3
	workers   = 4 // of each process
)

// run plays while do runs.
func (p *play) run(do func(ctx context.Context) error) {
	p.t.Helper()
	p.calls, p.recorded, p.ledger = map[int]int{}, map[int]int{}, map[int]string{}
	p.last.Store(1 << 40)
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	var running sync.WaitGroup
	for process := range processes {
		store := p.open()
		for worker := range workers {
			running.Go(func() {
				for event := worker; int64(event) < p.last.Load() && ctx.Err() == nil; event += workers {
					p.next.Store(max(p.next.Load(), int64(event+1)))
					p.effect(ctx, store, process, event)
				}
			})
		}
	}
	time.Sleep(200 * time.Millisecond)
	err := do(ctx)
	time.Sleep(200 * time.Millisecond)
	p.last.Store(p.next.Load() + workers)
	running.Wait()
	if err != nil || ctx.Err() != nil {
		p.t.Fatalf("the fault was not made, or survived: %v, %v", err, ctx.Err())
	}
	for event := range int(p.next.Load()) {
		if p.ledger[event] == "" {
			p.t.Errorf("event %d has no row", event)
		}
	}
}

// total are the calls that were made, and the events.
func (p *play) total() (calls, events int) {
	for _, n := range p.calls {
		calls += n
	}
	p.t.Logf("%d calls for %d events", calls, len(p.ledger))
	return calls, len(p.ledger)
}

// once holds that each event was called once, and recorded once.
func (p *play) once() {
	p.t.Helper()
	p.total()
	for event := range p.ledger {
		if p.calls[event] != 1 || p.recorded[event] != 1 {
			p.t.Errorf("event %d: %d calls, %d recorded", event, p.calls[event], p.recorded[event])
		}
	}
}

// effect brings one event into the ledger.
func (p *play) effect(ctx context.Context, store lease.Store, process, event int) {
	ask := lease.Ask{Key: eventKey(event), Term: p.term, Interrupts: p.interrupt, Keep: time.Hour, Content: lease.Content{Print: 1}}
	for ctx.Err() == nil && p.row(event) == "" {
		if ask.Token == 0 {
			rand.Read(ask.Owner[:])
			ask.Token = p.tokens.Add(1)
		}
		a, err := acquire(ctx, store, ask)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		switch {
		case a.Got:
			p.made(ctx, store, lease.Hold{Key: ask.Key, Owner: ask.Owner, Token: a.Token}, process, event)
		case a.State == lease.Done:
			p.pass(event, string(a.Result))
		case a.State == lease.Interrupted:
			p.pass(event, "interrupted")
		default:
			time.Sleep(min(a.Wait, 5*time.Millisecond))
		}
		ask.Token = 0 // another try
	}
}

// made makes the call, and records it until the store has answered.
func (p *play) made(ctx context.Context, store lease.Store, h lease.Hold, process, event int) {
	p.mu.Lock()
	p.calls[event]++
	nth := p.calls[event]
	p.mu.Unlock()
	if time.Sleep(5 * time.Millisecond); p.call != nil {
		p.call(process, event, nth)
	}
	result := fmt.Sprintf("%d by %d", nth, process)
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		held, err := store.Record(limited, "test", []lease.End{{Hold: h, State: lease.Done, Result: []byte(result), Attempts: nth}})
		cancel()
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if held[0] {
			p.mu.Lock()
			p.recorded[event]++
			p.mu.Unlock()
			p.pass(event, result)
		}
		return
	}
}

func (p *play) row(event int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ledger[event]
}

// pass writes the row, unless it is there.
func (p *play) pass(event int, result string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ledger[event] == "" {
		p.ledger[event] = result
	}
}

func acquire(ctx context.Context, store lease.Store, ask lease.Ask) (lease.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	answers, err := store.Acquire(ctx, "test", []lease.Ask{ask})
	if err != nil {
		return lease.Answer{}, err
	}
	return answers[0], nil
}

func eventKey(event int) (k wire.Key) {
	binary.BigEndian.PutUint64(k[:], uint64(event))
	return k
}
