package idem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/idemgen/idemgen/runtime/wire"
)

// owner applies records to one partition. All it knows is a function of the ledger up to
// the row tail; it moves forward only when an append of its own is acknowledged, or when
// it adopts a row that it reads back. It is used by one goroutine at a time.
type owner struct {
	c      *Consumer
	id     Partition
	topic  *wire.Topic
	stream int32
	tail   tail
	// attempts are the appends sent at tail.seq+1 whose fate is open. Whatever row stands
	// there in the end is the truth; its token tells which of them it was.
	attempts  []attempt
	batch     *wire.Batch
	names     map[string]string // statement text -> prepared name
	search    search
	condemned map[int64]letter // by offset: records that must become dead letters, because they were refused alone
	calls     callCount
	limit     int // records per transaction while transactions fail for no record's fault; 0 = all
	durable   atomic.Int64

	// quit ends when the partition is given up: no further transaction is begun. life ends
	// when its last transaction must end, too.
	quit, life  context.Context
	leave, kill context.CancelFunc
	idle        chan struct{} // holds a token while no Deliver runs
}

func (c *Consumer) newOwner(p Partition) (*owner, error) {
	i := slices.IndexFunc(c.service.Topics, func(t wire.Topic) bool { return t.Name == p.Topic })
	if i < 0 {
		return nil, fmt.Errorf("idem: topic %q is not in the spec", p.Topic)
	}
	o := &owner{c: c, id: p, topic: &c.service.Topics[i], condemned: map[int64]letter{}, idle: make(chan struct{}, 1)}
	o.life, o.kill = context.WithCancel(context.Background())
	o.quit, o.leave = context.WithCancel(o.life)
	o.idle <- struct{}{}
	return o, nil
}

// givenUp is the reason of a [FencedError] that no other owner caused.
const givenUp = "the partition was given up"

// tail is the last row of the partition's ledger, as this owner knows it.
type tail struct {
	seq   int64
	token UUID
	next  int64 // first offset not covered
	epoch int32
	def   int32
	parts int32
}

// attempt is one sending of an append.
type attempt struct {
	token   UUID
	next    int64
	epoch   int32
	result  Result
	letters []letter
}

// search halves a batch that failed because of data until one record is left. Sending the
// left half first keeps the order: a right half is sent only after the left one stands.
type search struct{ failing int } // records from the position on that fail together; 0 = no search

// size is how many of n records to send next.
func (s *search) size(n int) int {
	switch {
	case s.failing == 0:
		return n
	case s.failing == 1:
		return 1
	}
	return min(n, s.failing/2)
}

// failed says that the next n records fail together. It reports whether a search begins.
func (s *search) failed(n int) (begins bool) {
	begins = s.failing == 0
	s.failing = n
	return begins
}

// passed says that the next n records are durable.
func (s *search) passed(n int) { s.failing = max(0, s.failing-n) }

// apply counts what Kafka delivered again and applies the rest.
func (o *owner) apply(ctx context.Context, records []Message) (Result, error) {
	var res Result
	rest := o.unseen(records)
	if n := len(records) - len(rest); n > 0 {
		res.Duplicates = n
		o.c.stats.redelivered.Add(int64(n))
	}
	done, err := o.applyUnseen(ctx, rest)
	res.add(done)
	return res, err
}

// applyUnseen applies records from the position on, in as many transactions as it takes.
func (o *owner) applyUnseen(ctx context.Context, records []Message) (Result, error) {
	var res Result
	for rest := records; len(rest) > 0; rest = o.unseen(rest) {
		n := o.search.size(len(rest))
		if o.limit > 0 {
			n = min(n, o.limit)
		}
		done, err := o.transact(ctx, rest[:n])
		res.add(done)
		if err = o.judge(rest[:n], err); err != nil {
			return res, err
		}
	}
	return res, nil
}

// unseen drops the records below the position.
func (o *owner) unseen(records []Message) []Message {
	for len(records) > 0 && records[0].Offset < o.tail.next {
		records = records[1:]
	}
	return records
}

// settle moves forward to a row that is known to stand at tail.seq+1 and to be ours.
func (o *owner) settle(a attempt) Result {
	o.tail = tail{seq: o.tail.seq + 1, token: a.token, next: a.next, epoch: a.epoch, def: o.tail.def, parts: o.tail.parts}
	o.attempts = o.attempts[:0]
	maps.DeleteFunc(o.condemned, func(offset int64, _ letter) bool { return offset < a.next })
	o.limit = 0
	o.durable.Store(a.next)
	o.c.stats.add(a.result)
	for i := range a.letters {
		o.warn(&a.letters[i])
	}
	return a.result
}

// fenced discards the memory: another row than ours stands, or ours is gone.
func (o *owner) fenced(reason string) error {
	o.leave()
	o.c.stats.fenced.Add(1)
	return &FencedError{Partition: o.id, Reason: reason}
}

func (o *owner) halted(offset int64, reason string, err error) error {
	return &HaltedError{Partition: o.id, Offset: offset, Reason: reason, Err: err}
}
