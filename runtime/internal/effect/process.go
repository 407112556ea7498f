// Package effect makes the effects of records outside of the transaction: calls of the service's
// Go code, each under a lease, so that a healthy system makes one for each event, however slow
// it is and whoever owns the partition.
//
//	Desk (of one owner) -> task (of one record): acquire -> call, heartbeat -> record -> Outcome
//	Process (of all)    -> slots; what goes to the store in the same moment goes together
//
// A task that has begun a call ends it and records what came of it, also if its partition is
// given up meanwhile: the next owner waits for it, and finds the result. It does not pass records,
// and writes nothing into the ledger. It must not import any package of this module but backoff,
// fault, halt, idemtype, lease, verdict, watchdog and wire.
package effect

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Process is what the effects of one process share.
type Process struct {
	Consumer string
	Log      *slog.Logger
	slots    chan struct{} // one for each call that may run
	acquire  gather[lease.Ask, lease.Answer]
	extend   gather[lease.Hold, bool]
	record   gather[lease.End, bool]
	calls    sync.WaitGroup
}

// storeTimeout is how long a question to the store may take: it is asked again then.
const storeTimeout = 10 * time.Second

// NewProcess returns the effects of a consumer, most of them at the same time.
func NewProcess(consumer string, store lease.Store, most int, log *slog.Logger) *Process {
	p := &Process{Consumer: consumer, Log: log, slots: make(chan struct{}, max(1, most))}
	p.acquire.send = func(ctx context.Context, asks []lease.Ask) ([]lease.Answer, error) {
		return eachOnce(asks, func(some []lease.Ask) ([]lease.Answer, error) {
			ctx, cancel := context.WithTimeout(ctx, storeTimeout)
			defer cancel()
			return store.Acquire(ctx, consumer, some)
		})
	}
	p.extend.send = func(ctx context.Context, held []lease.Hold) ([]bool, error) {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		return store.Extend(ctx, consumer, held)
	}
	p.record.send = func(ctx context.Context, ends []lease.End) ([]bool, error) {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		return store.Record(ctx, consumer, ends)
	}
	return p
}

// eachOnce asks for each key once at a time: copies of an event may be on two partitions of this
// process.
func eachOnce(asks []lease.Ask, send func([]lease.Ask) ([]lease.Answer, error)) ([]lease.Answer, error) {
	answers := make([]lease.Answer, len(asks))
	waiting := make([]int, len(asks)) // places of asks without an answer
	for i := range asks {
		waiting[i] = i
	}
	for len(waiting) > 0 {
		var places, again []int
		var some []lease.Ask
		for _, i := range waiting {
			if slices.ContainsFunc(some, func(a lease.Ask) bool { return a.Key == asks[i].Key }) {
				again = append(again, i)
				continue
			}
			places, some = append(places, i), append(some, asks[i])
		}
		got, err := send(some)
		if err != nil {
			return nil, err
		}
		for n, i := range places {
			answers[i] = got[n]
		}
		waiting = again
	}
	return answers, nil
}

// Wait waits until no call runs any more, or ctx has ended. It is for the end of the process: a
// call that is cut off there would have to be found out about.
func (p *Process) Wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		p.calls.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// newOwner names one try of a lease.
func newOwner() (u wire.UUID) {
	rand.Read(u[:])
	return u
}
