package idem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/lag"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/wire"
)

// worker is a partition while it is assigned: where it stands in the protocol's table, and
// what outlives its memory. The memory is an owner; it is never used again once a step
// discards it.
type worker struct {
	c     *Consumer
	id    Partition
	topic *wire.Topic

	mu    sync.Mutex
	state protocol.State
	owner *owner // whose steps count: the one that is fencing, or whose memory is kept; else nil
	why   error  // why it makes no progress; nil while it does
	said  string // the last line about it
	// since is when the records that stand first were handed over; zero while none wait.
	since   time.Time
	silent  time.Time // since when the Source gets no records although there are some; zero if it gets them
	lag     lag.Gauge // has a lock of its own
	handler string    // event of a handler that goes on although its time is over

	// Of the goroutine that the Source calls with.
	watch watch
	ahead cut
}

func (c *Consumer) newWorker(p Partition) (*worker, error) {
	i := slices.IndexFunc(c.service.Topics, func(t wire.Topic) bool { return t.Name == p.Topic })
	if i < 0 {
		return nil, fmt.Errorf("idem: topic %q is not in the spec", p.Topic)
	}
	return &worker{c: c, id: p, topic: &c.service.Topics[i]}, nil
}

// begin gives the worker an owner without a memory, which is to fence.
func (w *worker) begin() *owner {
	o := newOwner(w)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state != protocol.Fencing { // it was given up meanwhile
		o.end(&FencedError{Partition: w.id, Reason: givenUp})
		return o
	}
	w.owner = o
	return o
}

// at is where the worker stands, and why it makes no progress.
func (w *worker) at() (protocol.State, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state, w.why
}

// step takes the protocol's step for what happened to the partition. why is what people
// should know of it.
func (w *worker) step(e protocol.Event, why error) error {
	_, err := w.next(nil, e, why)
	return err
}

// next goes to the protocol's next state. Of an owner whose memory was discarded nothing
// counts any more. A step that the table does not have is a bug; the partition stands.
func (w *worker) next(o *owner, e protocol.Event, why error) (protocol.Memory, error) {
	w.mu.Lock()
	if o != nil && w.owner != o {
		w.mu.Unlock()
		return protocol.Discard, o.ended()
	}
	from := w.state
	next, memory, ok := protocol.Next(from, e)
	if !ok {
		why = haltedAt(w, halt.Runtime, -1, fmt.Sprintf("no step leads from %v when %q happens: please report it", from, e), nil, "")
		next, memory = protocol.Halted, protocol.Discard
	}
	w.state = next
	w.account(next, why)
	old := w.owner
	if memory == protocol.Discard {
		w.owner, w.since = nil, time.Time{}
	}
	if next != protocol.Sent && e != protocol.Rested { // a batch on its way is no news
		w.show(from, next, why)
	}
	w.mu.Unlock()
	if memory == protocol.Discard && old != nil {
		w.watch.leave(old)
		old.end(cmp.Or[error](why, &FencedError{Partition: w.id, Reason: givenUp}))
	}
	if !ok {
		return memory, why
	}
	return memory, nil
}

// account tells the partition's account whether the partition stands, and whether its
// position is known to be none of the log's.
func (w *worker) account(s protocol.State, why error) {
	switch s {
	case protocol.Off, protocol.Fencing, protocol.Standby, protocol.Halted:
	default:
		w.lag.Works()
		return
	}
	_, lost := errors.AsType[*aheadError](why)
	if halted, ok := errors.AsType[*HaltedError](why); ok {
		switch halted.Code {
		case halt.TopicRecreated, halt.LogTruncated, halt.LedgerMissing, halt.LedgerGone:
			lost = true
		}
	}
	w.lag.Stands(lost, time.Now())
}

// show keeps why the partition makes no progress, for Health, and logs one line if what
// people see has changed.
func (w *worker) show(from, s protocol.State, why error) {
	w.why = why // also while it is taken over again: it stands until that succeeds
	if s == protocol.Fencing && (from == protocol.Standby || from == protocol.Halted) {
		if w.watch.again { // for all that is known nobody acted, and it will stand again
			return
		}
		why = nil
	}
	text := s.String()
	if why != nil {
		text += why.Error()
	}
	if text == w.said || (s == protocol.Halted || s == protocol.Fencing) && uncounted(text) == uncounted(w.said) {
		return
	}
	first := w.said == ""
	w.said = text
	args := []any{"topic", w.id.Topic, "partition", w.id.Number, "state", s.String()}
	fenced, _ := errors.AsType[*FencedError](why)
	switch {
	case fenced != nil && fenced.Reason == operatorActed:
		w.c.log.Info("partition", append(args, "reason", why.Error())...)
	case why != nil:
		w.c.log.Error("partition stands", append(args, "reason", why.Error())...)
	case !first || s != protocol.Off:
		w.c.log.Info("partition", args...)
	}
}

// uncounted is a text without its numbers: that a log grew is no news.
func uncounted(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
}
