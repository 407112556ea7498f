package idemtest

import (
	"context"
	"errors"
	"sync"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// errCrash is what the runtime gets at the step at which a scenario stops it.
var errCrash = errors.New("a crash made by the test")

// crashBatch is how many records a batch holds that is stopped at each of its steps.
const crashBatch = 4

// crashes stops every batch at its first step, takes the partition over again as the next
// process would, stops at the second step, and so on until the batch comes through.
func crashes(b *trial) {
	b.stopEverywhere(anyStep, takeOverAgain)
}

// repliesLost does the same with an owner that lives on and asks again.
func repliesLost(b *trial) {
	b.stopEverywhere(anyStep, func(owners, partition) {})
}

// takeOverAgain is what the next process does after a crash.
func takeOverAgain(o owners, p partition) { o.of[p] = o.b.takeOver(p) }

func anyStep(string) bool { return true }

// stopEverywhere stops each batch at its first step among some, then at the second, and so on.
// Behind each stop comes next.
func (b *trial) stopEverywhere(at func(step string) bool, next func(owners, partition)) {
	b.inexact = true // every owner searches a refused batch again
	owners := b.owners()
	for rest := b.messages(b.log); len(rest) > 0; {
		batch := rest[:together(rest, crashBatch)]
		rest = rest[len(batch):]
		p := partitionOf(batch[0])
		for n, stopped := 1, true; stopped; n++ {
			stopped = b.stopAt(owners.writer(p), batch, at, n)
			if stopped {
				next(owners, p)
			}
		}
		w := owners.writer(p)
		if got, want := w.Next(), batch[len(batch)-1].Offset+1; got != want {
			b.t.Fatalf("after a batch the position is %d, want %d", got, want)
		}
	}
}

// stopAt applies a batch and stops it at the n-th of some steps. It reports whether there was one.
func (b *trial) stopAt(w *Writer, batch []idem.Message, at func(step string) bool, n int) (stopped bool) {
	b.t.Helper()
	var mu sync.Mutex // effects run side by side
	var group sync.WaitGroup
	crashed := false
	ctx := fault.With(fault.WithGroup(b.t.Context(), &group), func(step string) error {
		mu.Lock()
		defer mu.Unlock()
		if !crashed && at(step) {
			n--
			crashed = n == 0
		}
		if !crashed {
			return nil
		}
		if step == fault.AfterCall {
			b.effects.mayCallAgain()
		}
		return errCrash
	})
	var err error
	b.leavesNothing(b.recordsOf(batch), func() {
		if err = b.attempt(ctx, w, batch); err != nil {
			group.Wait() // nothing of a process that is gone runs
			endLeases(b)
		}
	})
	if err != nil && !errors.Is(err, errCrash) {
		b.t.Fatalf("applying a batch of %d from offset %d: %v", len(batch), batch[0].Offset, err)
	}
	return err != nil
}

func (b *trial) attempt(ctx context.Context, w *Writer, batch []idem.Message) error {
	_, err := b.try(ctx, w, batch)
	return err
}
