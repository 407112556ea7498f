package idem

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/recent"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// owner applies records to one partition. All it knows is a function of the ledger up to
// the row tail; it moves forward only when an append of its own is acknowledged, or when
// it adopts a row that it reads back. It is used by one goroutine at a time.
type owner struct {
	c      *Consumer
	w      *worker
	id     Partition
	topic  *wire.Topic
	stream int32
	tail   ledger.Tail
	// attempts are the appends sent behind the tail whose fate is open. Whatever row stands
	// there in the end is the truth; its token tells which of them it was.
	attempts   []attempt
	tried      bool        // an append was sent behind the tail, whatever became of it
	fresh      bool        // the tail is the fence of this owner
	keys       *keyset.Set // of the chain's rows from the window to the tail; nil if the topic has none there
	clock      dbClock
	batch      *wire.Batch
	statements map[string]session.Statement // of the topic, by text
	search     search
	condemned  map[int64]letter // by offset: records that must become dead letters, because they were refused alone
	recent     *recent.Keys     // keys of ours that stand
	pace       generation.Pace
	calls      callCount    // failed calls of the record that failed last
	timeouts   callCount    // and transactions with it alone that took too long
	limit      int          // records per transaction while transactions fail for no record's fault; 0 = all
	row        ledger.InRow // dead letters since the last record that took effect
	durable    atomic.Int64

	doubtful  bool      // the answer to an attempt was lost; until the seq is settled
	stalled   bool      // such an attempt seems to stand, and holds its locks
	replanned bool      // the statements were prepared anew, and nothing was acknowledged since
	began     time.Time // when it was made
	forward   time.Time // when it last moved forward

	// quit ends when the partition is given up: no further transaction is begun. life ends
	// when its last transaction must end, too.
	quit, life  context.Context
	leave, kill context.CancelFunc
	idle        chan struct{}         // holds a token while no Deliver runs
	over        atomic.Pointer[error] // why it is no more
}

func newOwner(w *worker) *owner {
	o := &owner{c: w.c, w: w, id: w.id, topic: w.topic, condemned: map[int64]letter{}, idle: make(chan struct{}, 1), began: time.Now()}
	o.recent = recent.New(recentKeys, o.topic.Window)
	o.life, o.kill = context.WithCancel(context.Background())
	o.quit, o.leave = context.WithCancel(o.life)
	o.idle <- struct{}{}
	o.durable.Store(-1) // until the chain was read: a hint for a partition without one would halt the next owner
	if o.topic.Chain > 0 {
		o.keys = keyset.New(o.c.keyMemory, o.topic.Chain)
	}
	return o
}

// givenUp is the reason of a [FencedError] that no other owner caused.
const givenUp = "the partition was given up"

// operatorActed is the reason of one that is no trouble: the worker comes back at once.
const operatorActed = "an operator appended to the ledger"

// end says that the memory is discarded, and why.
func (o *owner) end(why error) {
	o.over.CompareAndSwap(nil, &why)
	o.kill()
	o.forget()
}

// ended is why the memory was discarded.
func (o *owner) ended() error {
	if why := o.over.Load(); why != nil {
		return *why
	}
	return &FencedError{Partition: o.id, Reason: givenUp}
}

// step takes the protocol's step for what happened, and does with the memory what it says:
// forward moves it to the row that is known to stand behind the tail, where there is one.
func (o *owner) step(e protocol.Event, why error, forward func()) error {
	memory, err := o.w.next(o, e, why)
	if err != nil {
		return err
	}
	switch memory {
	case protocol.Forward, protocol.Adopt:
		forward()
		o.w.progressed()
	case protocol.Load:
		o.durable.Store(o.tail.Next)
		o.w.lag.At(o.tail.Next, time.Now())
	}
	return nil
}

// attempt is one sending of an append.
type attempt struct {
	row     ledger.Row
	result  Result
	letters []letter
	inRow   ledger.InRow // dead letters since the last record that took effect, when it is acknowledged
	claims  []wire.Claim
	by      *wire.Call // if the transaction was rolled back: the call that may have committed it before
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
		o.w.lag.Again(n)
	}
	done, err := o.applyUnseen(ctx, rest)
	res = res.Plus(done)
	return res, err
}

// applyUnseen applies records from the position on, in as many transactions as it takes.
func (o *owner) applyUnseen(ctx context.Context, records []Message) (Result, error) {
	var res Result
	for rest := records; len(rest) > 0; rest = o.unseen(rest) {
		o.w.lag.First(rest[0].Offset, rest[0].Time)
		n := o.search.size(len(rest))
		if o.limit > 0 {
			n = min(n, o.limit)
		}
		done, err := o.transact(ctx, rest[:n], 0)
		res = res.Plus(done)
		if err = o.judge(rest[:n], err); err != nil {
			return res, err
		}
	}
	return res, nil
}

// unseen drops the records below the position.
func (o *owner) unseen(records []Message) []Message {
	for len(records) > 0 && records[0].Offset < o.tail.Next {
		records = records[1:]
	}
	return records
}

// settle moves forward to a row that is known to stand behind the tail and to be ours.
func (o *owner) settle(a attempt, written time.Time) Result {
	o.tail = ledger.Tail{
		Seq: o.tail.Seq + 1, Token: a.row.Token, Next: a.row.Next, Kind: a.row.Kind, Epoch: a.row.Epoch,
		Def: o.tail.Def, Parts: o.tail.Parts, Window: max(o.tail.Window, a.row.Window), Written: written,
	}
	o.remember(a.row)
	o.attempts, o.tried, o.fresh = o.attempts[:0], false, false
	o.recall(a.claims)
	o.pace.Clean()
	maps.DeleteFunc(o.condemned, func(offset int64, _ letter) bool { return offset < a.row.Next })
	o.limit, o.row, o.doubtful, o.stalled, o.replanned, o.forward = 0, a.inRow, false, false, false, time.Now()
	o.durable.Store(a.row.Next)
	o.c.stats.add(a.result)
	o.w.lag.Add(counts(a.result), a.row.Next, time.Now())
	for i := range a.letters {
		o.warn(&a.letters[i])
	}
	return a.result
}

// fenced discards the memory: another row than ours stands, or ours is gone.
func (o *owner) fenced(e protocol.Event, reason string) error {
	o.c.stats.fenced.Add(1)
	why := &FencedError{Partition: o.id, Reason: reason}
	if err := o.step(e, why, nil); err != nil {
		return err
	}
	return why
}

func (o *owner) halted(code halt.Code, offset int64, reason string, err error) error {
	return o.haltedWith(code, offset, reason, err, "")
}

// haltedWith is halted for a remedy that needs more than the stream's name.
func (o *owner) haltedWith(code halt.Code, offset int64, reason string, err error, args string) error {
	return haltedAt(o.w, code, offset, reason, err, args)
}

func haltedAt(w *worker, code halt.Code, offset int64, reason string, err error, args string) error {
	h := &HaltedError{
		Partition: w.id, Offset: offset, Code: code, Reason: reason, Err: err,
		Remedy: halt.Remedy(code, w.c.service.Consumer, w.id.Topic, w.id.Number, args),
	}
	if code != halt.Database { // which rarely has to do with the record
		offerPass(h, w.c.service.Consumer)
	}
	return h
}
