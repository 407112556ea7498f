package idemtest

import (
	"context"
	"errors"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// errCrash is what the runtime gets at the step at which a scenario stops it.
var errCrash = errors.New("a crash made by the test")

// crashBatch is how many records a batch holds that is stopped at each of its steps.
const crashBatch = 4

// crashes stops every batch at its first step, takes the partition over again as the next
// process would, stops at the second step, and so on until the batch comes through.
func crashes(b *trial) {
	b.stopEverywhere(func(*idem.Writer) *idem.Writer { return b.own(0) })
}

// repliesLost does the same with an owner that lives on and asks again.
func repliesLost(b *trial) {
	b.stopEverywhere(func(w *idem.Writer) *idem.Writer { return w })
}

func (b *trial) stopEverywhere(next func(*idem.Writer) *idem.Writer) {
	b.inexact = true // every owner searches a refused batch again
	w := b.own(0)
	for rest := b.messages(b.log); len(rest) > 0; {
		batch := rest[:min(crashBatch, len(rest))]
		rest = rest[len(batch):]
		for step, stopped := 1, true; stopped; step++ {
			stopped = b.stopAt(w, batch, step)
			if stopped {
				w = next(w)
			}
		}
		if got, want := w.Next(), batch[len(batch)-1].Offset+1; got != want {
			b.t.Fatalf("after a batch the position is %d, want %d", got, want)
		}
	}
}

// stopAt applies a batch and stops it at its n-th step. It reports whether there was one.
func (b *trial) stopAt(w *idem.Writer, batch []idem.Message, n int) (stopped bool) {
	b.t.Helper()
	ctx := fault.With(b.t.Context(), func(string) error {
		if n--; n == 0 {
			return errCrash
		}
		return nil
	})
	err := b.attempt(ctx, w, batch)
	if err != nil && !errors.Is(err, errCrash) {
		b.t.Fatalf("applying %d records from offset %d: %v", len(batch), batch[0].Offset, err)
	}
	return err != nil
}

func (b *trial) attempt(ctx context.Context, w *idem.Writer, batch []idem.Message) error {
	_, err := b.try(ctx, w, batch)
	return err
}
