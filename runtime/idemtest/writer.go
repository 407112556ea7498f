package idemtest

import (
	"context"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/door"
	"github.com/idemgen/idemgen/runtime/internal/engine"
)

// Writer applies records to one partition, without a Source. It is not safe for concurrent use.
type Writer struct{ owner *engine.Owner }

// Own takes over a partition of consumer c and returns a writer for it, until the test ends. The
// previous owner is fenced. A partition without a ledger starts at offset start. Hooks are called
// for the partition, and its records are counted, but it is not in [idem.Consumer.Health] nor
// among the partitions of [idem.Consumer.Stats], and nothing maintains the runtime's tables.
func Own(t testing.TB, c *idem.Consumer, topic string, partition int32, start int64) (*Writer, error) {
	t.Helper()
	o, err := door.Own(t.Context(), c, idem.Partition{Topic: topic, Number: partition}, start)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { door.Close(c) })
	return &Writer{o}, nil
}

// Next returns the offset of the next record to apply.
func (w *Writer) Next() int64 { return w.owner.Next() }

// Apply applies records in offset order, as one transaction unless the data of one of them is
// rejected. It skips records below Next. After an error, call Apply again with the same records:
// those already applied are not applied twice. After an [idem.FencedError] the writer cannot be
// used any more.
func (w *Writer) Apply(ctx context.Context, records []idem.Message) (idem.Result, error) {
	return w.owner.Apply(ctx, records)
}
