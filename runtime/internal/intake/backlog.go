package intake

import (
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Limits say what completes a batch, and with that what fills a queue.
type Limits struct {
	Records    int           // that complete a batch
	Bytes      int           // that complete a batch
	Wait       time.Duration // age that completes a batch
	FetchBytes int           // that the client fetches of a partition at a time
}

const (
	// depth is how many complete batches are held while one is delivered, unless bytes end it
	// first.
	depth = 4
	// framing is what a record has beside its key, value and headers, in bytes of a fetch.
	framing = 8
)

// backlog are records of one partition that wait for delivery, in batches. It is plain data:
// the queue holds a lock around it.
type backlog struct {
	limits  Limits
	batches []batch // oldest first; only the last one grows
	records int     // of all batches
	bytes   int     // of all batches
	spare   [][]wire.Message
}

type batch struct {
	records []wire.Message
	bytes   int
	since   time.Time // arrival of the first record
}

// add appends a record. It reports whether a batch began or is complete now.
func (b *backlog) add(m *wire.Message, size int) (changed bool) {
	if n := len(b.batches); n == 0 || b.complete(&b.batches[n-1]) {
		b.batches = append(b.batches, batch{records: b.recycled(), since: time.Now()})
		changed = true
	}
	last := &b.batches[len(b.batches)-1]
	last.records = append(b.grown(last.records), *m)
	last.bytes += size
	b.records++
	b.bytes += size
	return changed || b.complete(last)
}

func (b *backlog) complete(last *batch) bool {
	return len(last.records) >= b.limits.Records || last.bytes >= b.limits.Bytes
}

// take removes the oldest batch if it is due. Otherwise it says how long that will take; 0 if
// there is none.
func (b *backlog) take() (records []wire.Message, wait time.Duration) {
	if len(b.batches) == 0 {
		return nil, 0
	}
	first := b.batches[0]
	if wait := b.limits.Wait - time.Since(first.since); wait > 0 && !b.complete(&first) {
		return nil, wait
	}
	b.batches[0] = batch{}
	b.batches = b.batches[1:]
	b.records -= len(first.records)
	b.bytes -= first.bytes
	return first.records, 0
}

// drop removes all records.
func (b *backlog) drop() { b.batches, b.records, b.bytes = nil, 0, 0 }

// full reports whether there is n times as much as fills the backlog; once is enough for now.
// There is room for two fetches in any case: the client hands over records of other partitions
// after those of this one, and they must not come too late.
func (b *backlog) full(n int) bool {
	return b.records >= n*depth*b.limits.Records && b.bytes+framing*b.records >= 2*n*b.limits.FetchBytes ||
		b.bytes >= n*b.limits.Bytes
}

// halfEmpty reports whether a client that was told to pause may go on.
func (b *backlog) halfEmpty() bool {
	return b.records <= depth/2*b.limits.Records && b.bytes <= b.limits.Bytes/2
}

// recycle keeps the memory of a batch that was delivered.
func (b *backlog) recycle(records []wire.Message) {
	if len(b.spare) < depth {
		b.spare = append(b.spare, records[:0])
	}
}

func (b *backlog) recycled() []wire.Message {
	n := len(b.spare)
	if n == 0 {
		return nil
	}
	s := b.spare[n-1]
	b.spare = b.spare[:n-1]
	return s
}

// grown makes room for one more record of a batch that is not complete, and never for more
// records than a batch has: append would.
func (b *backlog) grown(records []wire.Message) []wire.Message {
	if len(records) < cap(records) {
		return records
	}
	return append(make([]wire.Message, 0, min(max(16, 2*len(records)), b.limits.Records)), records...)
}
