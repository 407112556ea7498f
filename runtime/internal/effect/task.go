package effect

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Outcome is the outcome of an effect.
type Outcome struct {
	Result      wire.EffectResult
	Refused     *deadletter.Letter // the record must become one
	Interrupted bool               // because the outcome of its call is unknown
	Err         error              // no later record may be applied: a [verdict.Halt], or the end of the owner
}

// task is the effect of one record.
type task struct {
	desk     *Desk
	effect   wire.Effect
	message  wire.Message    // a copy of the record
	caller   caller          // what only one call at a time may have
	key      wire.Key        // of the lease
	decision lease.Decision  // of an operator; or none
	owner    wire.UUID       // of the last ask, until it was answered; then zero
	lock     lock            // of the event, if it names one
	sight    sighting        // of the lease of another owner
	course   *course         // of the effect
	maybe    bool            // the call may have been made, and its result is gone with a commit
	before   *task           // of the previous record with the same record key; or nil
	quit     context.Context // done when the effect is no longer needed: no further attempt begins
	withdraw context.CancelFunc
	done     chan struct{}
	outcome  Outcome                // once done is closed
	waits    atomic.Pointer[string] // what it waits for; nil for nothing, or while the call runs
}

// waitsFor sets what the task waits for; "" means nothing.
func (t *task) waitsFor(what string) {
	if what == "" {
		t.waits.Store(nil)
		return
	}
	t.waits.Store(&what)
}

// heldBy describes a lease or a lock with its holder.
func heldBy(what string, a lease.Answer) string {
	what += ", which " + cmp.Or(a.Holder, "another process") + " holds"
	return what + apart(a)
}

// apart says why no clock ends what an effect waits for; "" if one does.
func apart(a lease.Answer) string {
	if a.Apart == 0 {
		return ""
	}
	way := "ahead of"
	if a.Apart < 0 {
		way = "behind"
	}
	return fmt.Sprintf("; the clocks differ: the database's is %v %s this process's, so it expires once it has been seen unchanged for %v",
		a.Apart.Abs().Round(time.Second), way, a.Wait.Round(time.Millisecond))
}

func newTask(d *Desk, e *wire.Effect, by lease.Decision) *task {
	t := &task{desk: d, effect: *e, message: own(e.Message), key: e.Key, decision: by, done: make(chan struct{})}
	t.effect.Message = &t.message
	lostTo, lostFence := d.owner.Gone()
	if t.maybe = e.Message.Offset < lostTo; by.Number != 0 {
		t.maybe = by.Number < lostFence
	}
	t.caller = caller{d.owner.Partition, string(t.message.Key)}
	t.quit, t.withdraw = context.WithCancel(d.owner.Quit)
	t.course = d.process.courses.of(e.Event, d.process.Log)
	t.lock = lock{process: d.process, of: e.Lock, term: e.Terms.Term()}
	if t.key == (wire.Key{}) {
		t.key = offsetKey(d.process.Consumer, d.owner.Topic(), &t.message)
	}
	return t
}

// own returns a copy of a record, because its effect may outlive the batch.
func own(m *wire.Message) wire.Message {
	c := *m
	c.Key, c.Value = bytes.Clone(m.Key), bytes.Clone(m.Value)
	c.Headers = make([]wire.Header, len(m.Headers))
	for i, h := range m.Headers {
		c.Headers[i] = wire.Header{Name: h.Name, Value: bytes.Clone(h.Value)}
	}
	return c
}

// offsetKey returns the key of an event that is identified by its offset. A recreated topic has
// another id, and after a truncation of the log an offset has another record. So the topic id and
// the record are part of the key, and a record that is read again has the same key.
func offsetKey(consumer string, topic wire.UUID, m *wire.Message) (k wire.Key) {
	h := sha256.New()
	for _, text := range []string{"idemgen effect", consumer, m.Topic} {
		h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	h.Write(topic[:])
	h.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, uint32(m.Partition)), uint64(m.Offset)))
	h.Write(record.Append(nil, m))
	copy(k[:], h.Sum(nil))
	return k
}

// over returns the outcome, if there is one.
func (t *task) over() (Outcome, bool) {
	select {
	case <-t.done:
		return t.outcome, true
	default:
		return Outcome{}, false
	}
}

// run runs the effect until it has an outcome.
func (t *task) run(ctx context.Context) {
	defer close(t.done)
	defer t.desk.tell(t, nil, true)
	defer t.withdraw()
	p := t.desk.process
	p.tally.waits(1)
	defer p.tally.waits(-1)
	if t.before != nil {
		t.waitsFor(fmt.Sprintf("the effect of offset %d, which has the same record key", t.before.message.Offset))
		select {
		case <-t.before.done:
		case <-t.quit.Done():
		}
		o, _ := t.before.over()
		t.before = nil    // releases all earlier tasks
		if o.Err != nil { // no later record may be applied
			t.outcome.Err = o.Err
			return
		}
	}
	defer func() {
		t.course.gone(t.key, t.outcome.Interrupted)
	}()
	defer p.callers.leave(t)
	defer t.lock.leave()
	for failures := 0; ; failures++ {
		if !t.lock.queue(t.quit, t.waitsFor) || !t.slot() {
			t.outcome.Err = t.quit.Err()
			return
		}
		wait, over := t.try(ctx, failures)
		if over {
			return
		}
		if !t.lock.busy {
			t.lock.leave()
		}
		if !backoff.Sleep(t.quit, wait) {
			t.outcome.Err = t.quit.Err()
			return
		}
	}
}

// busyPoll is the longest interval between two checks whether a lease of another process is free,
// or its call has ended.
const busyPoll = 250 * time.Millisecond

// slot waits for a slot, and reports false if the owner gives up first.
func (t *task) slot() bool {
	slots := t.desk.process.slots
	select {
	case slots <- struct{}{}:
		return true
	default:
	}
	t.waitsFor(fmt.Sprintf("a free slot among the %d calls that may run at the same time (limits.effect_concurrency)", cap(slots)))
	select {
	case slots <- struct{}{}:
		return true
	case <-t.quit.Done():
		return false
	}
}

// try acquires, in a slot, the lock and the lease, and makes the call if it gets both. If the
// effect has no outcome after that, it returns how long to wait before the next attempt.
func (t *task) try(ctx context.Context, failures int) (wait time.Duration, over bool) {
	p := t.desk.process
	defer func() { <-p.slots }()
	t.lock.busy = false                  // until it is requested
	if err := t.quit.Err(); err != nil { // a slot became free at the same moment
		return t.end(Outcome{Err: err})
	}
	if !p.callers.enter(t) {
		t.waitsFor("a running call for its record key")
		return busyPoll, false
	}
	defer p.callers.leave(t)
	wait, leave := t.admit()
	if leave == nil {
		t.waitsFor("") // the course of the effect reports why
		t.tell(nil)
		return wait, false
	}
	defer leave()
	if pause, waits := t.elsewhere(ctx, failures); waits {
		return pause, false
	}
	if err := fault.At(ctx, fault.BeforeLease); err != nil {
		return t.end(Outcome{Err: err})
	}
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	wait, err := t.lock.take(ctx, lost)
	if err != nil {
		return t.failed(err, failures)
	}
	if wait > 0 {
		t.waitsFor(heldBy(fmt.Sprintf("lock %q", t.lock.of.Name), t.lock.answer))
		t.tell(nil)
		return wait, false
	}
	defer t.lock.giveBack(ctx)
	if t.lock.held {
		if err := fault.At(ctx, fault.AfterLock); err != nil {
			return t.stopped(err)
		}
	}
	return t.leased(ctx, failures)
}

// admit permits the call, unless its effect fails for all events. A result that an operator stated
// is recorded without a call.
func (t *task) admit() (wait time.Duration, leave func()) {
	if t.decision.Result != nil {
		return 0, func() {}
	}
	return t.course.admit(t.key, t.effect.Terms.Timeout)
}

// elsewhere reports whether the call must wait because its event may be a copy of one that was
// called by a commit that is gone. A store outside of the database lost nothing.
func (t *task) elsewhere(ctx context.Context, failures int) (pause time.Duration, waits bool) {
	if !t.effect.Terms.Interrupts || t.maybe || t.decision.Result != nil || t.desk.process.external != nil {
		return 0, false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.quit, cancel)()
	what, err := t.desk.owner.Elsewhere(ctx)
	switch {
	case t.quit.Err() != nil:
		return 0, true
	case err != nil:
		t.tell(fmt.Errorf("cannot find out whether the database lost commits of other partitions: %w", verdict.Describe(err)))
		return backoff.Pause(failures+1, backoff.Initial, backoff.Most), true
	case what != "":
		t.waitsFor(what)
		t.tell(nil)
		return busyPoll, true
	}
	return 0, false
}

// leased is the part of an attempt that holds the lock, if there is one.
func (t *task) leased(ctx context.Context, failures int) (wait time.Duration, over bool) {
	a, hold, err := t.acquire(ctx)
	if err != nil {
		return t.failed(err, failures)
	}
	if a.Stale { // the next token is drawn past the store's
		return 0, false
	}
	t.desk.owner.Began(t.message.Offset + 1)
	t.tell(nil)
	t.waitsFor("")
	switch {
	case a.State != lease.Failed && t.effect.Conflicts(a.Content.Def, a.Content.Print):
		return t.refuse(wire.ReasonConflict, errOther)
	case a.Got:
		if err := fault.At(ctx, fault.AfterLease); err != nil {
			return t.stopped(err)
		}
		if t.maybe && t.effect.Terms.Interrupts && !hold.at.external {
			return t.maybeMade(ctx, hold, a.Attempts)
		}
		return t.call(ctx, hold, a.Attempts)
	}
	switch a.State {
	case lease.Done, lease.Completed:
		if err := fault.At(ctx, fault.AfterFound); err != nil {
			return t.end(Outcome{Err: err})
		}
		return t.end(Outcome{Result: wire.EffectResult{Key: t.key, Token: a.Token, Result: t.recorded(a.Result), External: hold.at.external}})
	case lease.Interrupted:
		return t.refuse(wire.ReasonInterrupted, fmt.Errorf("the outcome of the call is unknown: %s", a.Error))
	}
	switch {
	case a.State == lease.Processing:
		t.waitsFor(heldBy("its lease", a))
	case a.Apart != 0:
		t.waitsFor("the end of the pause after its last call" + apart(a))
	}
	return min(a.Wait+time.Millisecond, busyPoll), false
}

// recorded returns the result to use: the recorded one, unless it cannot be decoded and an
// operator stated another.
func (t *task) recorded(result []byte) []byte {
	if given := t.decision.Result; given != nil && t.read(result) != nil {
		return given
	}
	return result
}

// ask returns the request for the lease, under an owner.
func (t *task) ask(owner wire.UUID) lease.Ask {
	e := &t.effect
	return lease.Ask{
		Key: t.key, Owner: owner, Term: e.Terms.Term(), Interrupts: e.Terms.Interrupts, Keep: e.Terms.Keep, Holder: t.desk.process.Who,
		Content: lease.Content{Def: e.Content, Print: e.Print}, Decision: t.decision, Seen: t.sight.seen(),
	}
}

// stopped ends the task as a crash of the process would, for tests: it releases nothing.
func (t *task) stopped(err error) (time.Duration, bool) {
	t.lock.abandon()
	return t.end(Outcome{Err: err})
}

// end ends the task.
func (t *task) end(o Outcome) (time.Duration, bool) {
	t.outcome = o
	return 0, true
}

// refuse ends the task with a dead letter, or with a halt if the spec says so.
func (t *task) refuse(class string, err error) (time.Duration, bool) {
	if t.effect.Policy.Stop {
		return t.end(Outcome{Err: &verdict.Halt{
			Code: halt.RecordRefused, Offset: t.message.Offset, Reason: "on_failure says stop: " + class + ": " + t.effect.Event, Err: err,
		}})
	}
	l, key := deadletter.Of(&t.message, t.effect.Policy, class, t.effect.Event, err), wire.UUID(t.key)
	l.Key = &key // the operator looks the call up at the provider by it
	l.Effect = true
	return t.end(Outcome{Refused: &l, Interrupted: class == wire.ReasonInterrupted})
}

// failed handles a store that did not respond.
func (t *task) failed(err error, failures int) (time.Duration, bool) {
	if isBroken(err) {
		return t.end(Outcome{Err: t.broken(err)})
	}
	t.tell(unanswered(err))
	return backoff.Pause(failures+1, backoff.Initial, backoff.Most), false
}
