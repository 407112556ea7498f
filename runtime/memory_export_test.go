package idem

import (
	"testing"
	"time"
)

// WithClock sets this process's clock.
func WithClock(now func() time.Time) Option { return func(c *Consumer) { c.now = now } }

// Tail is the row up to which the writer's memory goes, and the first row whose keys it holds.
func (w *Writer) Tail() (token UUID, window, seq int64) {
	return w.owner.tail.Token, w.owner.tail.Window, w.owner.tail.Seq
}

// Remembers tells what the memory of the chain's keys says of one.
func (w *Writer) Remembers(key Key) (print, def uint32, ok bool) { return w.owner.keys.Find(key) }

// Remembered is how many keys of the chain it holds.
func (w *Writer) Remembered() int { return w.owner.keys.Len() }

// BuildAllocations is how many allocations the decision of a batch takes that is not sent.
func (w *Writer) BuildAllocations(records []Message) float64 {
	return testing.AllocsPerRun(20, func() { _, _ = w.owner.build(records, &known{owner: w.owner}) })
}

// KeyMemoryUsed is how many bytes all writers of the consumer use for keys.
func (c *Consumer) KeyMemoryUsed() int64 { return c.keyMemory.Used() }
