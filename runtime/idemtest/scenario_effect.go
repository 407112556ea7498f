package idemtest

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/lease"
)

// cutPerEvent is how many calls of each event are cut off: the first is called again by a person's
// word, of the second a person found the result.
const cutPerEvent = 2

// cutOff lets the process die after calls whose answer it did not record, and takes its partition
// over. Under if_interrupted: retry the call must be made again, under its key and another token.
// Else nothing must be called, neither for the record nor for its copy, until a person has
// decided.
func cutOff(b *trial) {
	walk := newWalk(b, cutPerEvent)
	for _, r := range b.log {
		if !walk.takes(r) {
			walk.deliver(r)
			continue
		}
		m := walk.place(r)
		if !walk.crashAfterCall(m) { // it is a copy of an event before it
			b.at(r, m.Partition, m.Offset)
			continue
		}
		walk.cut[r.effect]++
		interrupts := walk.endLease()
		walk.of[partitionOf(m)] = b.takeOver(partitionOf(m))
		if interrupts {
			walk.interrupted(r, m)
			walk.decided(r, m, walk.cut[r.effect] == cutPerEvent)
			continue
		}
		walk.calledAgain(r, func() { walk.again(r, m) })
	}
	walk.done("no call of this topic could be cut off: its events are known by their offset, or take no effect")
}

// leaseLost stops the holder of a lease within the call until the lease has ended and the next
// owner has it, and wakes it then: its answer must be dropped.
func leaseLost(b *trial) {
	walk := newWalk(b, 1)
	for _, r := range b.log {
		if !walk.takes(r) {
			walk.deliver(r)
			continue
		}
		m := walk.place(r)
		sleeper := walk.asleep(r, m)
		if sleeper == nil {
			b.at(r, m.Partition, m.Offset)
			continue
		}
		walk.cut[r.effect]++
		interrupts := walk.endLease()
		next, err := Own(b.t, newProcess(b), m.Topic, m.Partition, 0)
		if err != nil {
			b.t.Fatal(err)
		}
		walk.of[partitionOf(m)] = next
		if interrupts {
			walk.interrupted(r, m)
			sleeper.wake(b)
			walk.decided(r, m, true)
			continue
		}
		b.effects.set(func(id string, nth int) {
			if id == b.calledFor(r) && nth == 2 {
				sleeper.wake(b)
			}
		})
		walk.calledAgain(r, func() { walk.again(r, m) })
		b.effects.set(nil)
	}
	walk.done("no call of this topic could be stopped: its events are known by their offset, or take no effect")
}

// walk delivers the records of a log one by one, with more records between them.
type walk struct {
	owners
	most int            // calls of each event that the scenario takes
	cut  map[string]int // how many it took, by event
	next map[string]int64
}

func newWalk(b *trial, most int) *walk {
	b.inexact = true
	return &walk{b.owners(), most, map[string]int{}, map[string]int64{}}
}

// takes reports whether the scenario takes the call of a record. It must have copies that are the
// same event: what becomes of it is settled by one.
func (w *walk) takes(r record) bool {
	return r.effect != "" && r.keyed && !w.b.isDead(r) && w.cut[r.effect] < w.most
}

// place is the record at the next offset of its topic.
func (w *walk) place(r record) idem.Message {
	w.next[r.message.Topic]++
	return w.b.copied(r, 0, w.next[r.message.Topic]-1)
}

// deliver delivers the record, which has its effect.
func (w *walk) deliver(r record) {
	m := w.place(r)
	w.again(r, m)
}

// again delivers it at a place where it was delivered before.
func (w *walk) again(r record, m idem.Message) {
	w.b.at(r, m.Partition, m.Offset)
	w.owners.deliver([]idem.Message{m})
}

func (w *walk) writer(m idem.Message) *Writer { return w.owners.writer(partitionOf(m)) }

func (w *walk) done(nothing string) {
	if len(w.cut) == 0 {
		w.b.t.Skip(nothing)
	}
}

// interrupted delivers a record whose call was cut off, and a copy: both must be dead letters, and
// nothing be called.
func (w *walk) interrupted(r record, m idem.Message) {
	b := w.b
	before := len(b.effects.of(b.calledFor(r)))
	for i, m := range []idem.Message{m, w.place(r)} {
		b.ownDead[placeOf(m)] = expectedDead{class: "interrupted", mayWait: i > 0}
		w.owners.deliver([]idem.Message{m})
		Exec(b.t, b.db, `UPDATE idem_lease SET expires_at = clock_timestamp() WHERE state = 'i'`) // nobody decides for long
		b.effects.leases.change(b.database, lease.Interrupted, map[string]string{"expires": "0"})
	}
	if after := len(b.effects.of(b.calledFor(r))); after != before {
		b.t.Errorf("%s: an interrupted call was repeated, although if_interrupted says dead_letter", r.effect)
	}
}

// calledAgain fails unless the call of a record is made again, under its key and another token.
func (w *walk) calledAgain(r record, by func()) {
	b := w.b
	b.t.Helper()
	b.effects.mayCallAgain()
	before := b.effects.of(b.calledFor(r))
	by()
	after := b.effects.of(b.calledFor(r))
	if len(after) != len(before)+1 {
		b.t.Errorf("%s: %d calls behind one that was cut off, want 1", r.effect, len(after)-len(before))
		return
	}
	was, is := before[len(before)-1], after[len(after)-1]
	if is.key != was.key || is.token <= was.token {
		b.t.Errorf("%s: the call was repeated under key %v and token %d; the one that was cut off had key %v and token %d", r.effect, is.key, is.token, was.key, was.token)
	}
}

// crashAfterCall applies a record, and stops the process after its call, before the answer is
// recorded. It reports whether there was a call.
func (w *walk) crashAfterCall(m idem.Message) bool {
	b := w.b
	b.t.Helper()
	var group sync.WaitGroup
	ctx := fault.With(fault.WithGroup(b.t.Context(), &group), func(step string) error {
		if step == fault.AfterCall {
			return errCrash
		}
		return nil
	})
	err := b.attempt(ctx, w.writer(m), []idem.Message{m})
	group.Wait()
	if err != nil && !errors.Is(err, errCrash) {
		b.t.Fatalf("applying the record of offset %d: %v", m.Offset, err)
	}
	return err != nil
}

// endLease ends the lease of the call that was cut off, and its lock, as their time does. It
// reports whether a person has to decide.
func (w *walk) endLease() (interrupts bool) {
	b := w.b
	b.t.Helper()
	Exec(b.t, b.db, `UPDATE idem_lease SET expires_at = clock_timestamp() WHERE state = 'p' AND consumer LIKE 'lock:%'`)
	rows, err := b.db.Query(b.t.Context(), `UPDATE idem_lease SET expires_at = clock_timestamp() WHERE state = 'p' AND consumer NOT LIKE 'lock:%' RETURNING interrupts`)
	if err != nil {
		b.t.Fatalf("idemtest: expire a lease: %v", err)
	}
	ended, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	for _, was := range b.effects.leases.change(b.database, lease.Processing, map[string]string{"expires": "0"}) {
		ended = append(ended, was["interrupts"] == "1")
	}
	if err != nil || len(ended) != 1 {
		b.t.Fatalf("idemtest: %d leases of calls that were cut off, want 1 (%v)", len(ended), err)
	}
	return ended[0]
}

// sleeper is an owner that stopped within a call.
type sleeper struct {
	awake   chan struct{} // closed: the call returns
	dropped chan struct{} // closed when the lease was asked for a second time: the answer counted for nothing
	ended   chan error    // of the batch
	event   string
	id      string // of the record
}

// asleep applies a record by an owner that stops within its call; nil if there is no call.
func (w *walk) asleep(r record, m idem.Message) *sleeper {
	b, old := w.b, w.writer(m)
	s := &sleeper{make(chan struct{}), make(chan struct{}), make(chan error, 1), r.effect, b.calledFor(r)}
	called := make(chan struct{})
	b.effects.set(func(id string, nth int) {
		if id == b.calledFor(r) && nth == 1 {
			close(called)
			<-s.awake
		}
	})
	asked := 0
	ctx := fault.With(b.t.Context(), func(step string) error {
		if step != fault.BeforeLease {
			return nil
		}
		if asked++; asked == 1 {
			return nil
		}
		close(s.dropped)
		return errCrash
	})
	go func() { s.ended <- b.attempt(ctx, old, []idem.Message{m}) }()
	select {
	case <-called:
		return s
	case err := <-s.ended:
		b.effects.set(nil)
		if err != nil {
			b.t.Fatalf("applying the record of offset %d: %v", m.Offset, err)
		}
		return nil
	}
}

// wake lets the call of the owner that slept return, and waits until its answer was dropped.
func (s *sleeper) wake(b *trial) {
	close(s.awake)
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	select {
	case <-s.dropped:
	case <-ctx.Done():
		b.t.Errorf("%s: the result from an owner that lost its lease was accepted", s.event)
		return
	}
	if err := <-s.ended; !errors.Is(err, errCrash) && !isFenced(err) {
		b.t.Errorf("%s: an owner that lost its lease: %v", s.event, err)
	}
	var recorded int
	key := b.effects.of(s.id)[0].key
	err := b.db.QueryRow(b.t.Context(), `SELECT count(*) FROM idem_lease WHERE state = 'd' AND key = $1`, [16]byte(key)).Scan(&recorded)
	outside := b.effects.leases.stateOf(b.database, key) // of those that the ledger passed it is done, too
	if err != nil || recorded > 0 || outside == string(lease.Done) {
		b.t.Errorf("%s: the result from an owner that lost its lease was recorded (%v)", s.event, err)
	}
}
