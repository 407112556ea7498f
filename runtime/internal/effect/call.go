package effect

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

var (
	errOther = errors.New("the key was used before by an event with different content")
	errLate  = errors.New("effect.timeout exceeded")
	errPanic = errors.New("the call panicked")
	errExit  = errors.New("the call ended its goroutine")
)

// call makes the call under a lease, and records its outcome.
func (t *task) call(ctx context.Context, hold hold, attempt int) (time.Duration, bool) {
	if attempt > t.effect.Policy.Retries+1 {
		return t.crashed(ctx, hold, attempt-1)
	}
	if ctx.Err() != nil { // the lock was lost
		return t.uncalled(ctx, hold, attempt)
	}
	told := t.begins(ctx, hold, attempt)
	ended := t.desk.process.tally.began(t)
	result, beat, err := t.made(told, hold)
	took := ended()
	if ferr := fault.At(ctx, fault.AfterCall); ferr != nil {
		beat.stop()
		return t.stopped(ferr)
	}
	end, dead := t.judge(attempt, result, err, t.course.ended(t.key, attempt > 1 && 2*attempt > t.effect.Policy.Retries+1, err))
	pause := end.Pause
	if dead { // no other call follows by itself
		end.Pause = 0
	}
	beat.stop()
	held, over := t.store(ctx, &hold, end)
	if err != nil {
		t.course.pauses(pause, t.effect.Policy.MaxBackoff)
	}
	t.tell(nil)
	t.told(told, attempt, took, end.State, held && over == nil, err)
	switch {
	case over != nil:
		return t.end(Outcome{Err: over})
	case !held: // the row decides; if it is gone, the database lost it
		t.maybe = t.maybe || end.State != lease.Failed
		return 0, false
	}
	if ferr := fault.At(ctx, fault.AfterDone); ferr != nil {
		return t.stopped(ferr)
	}
	switch {
	case end.State == lease.Done:
		return t.end(Outcome{Result: wire.EffectResult{Key: t.key, Token: hold.Token, Result: result, External: hold.at.external}})
	case errors.Is(err, verdict.ErrNotImplemented):
		return t.end(Outcome{Err: &verdict.Halt{Code: halt.Handler, Offset: t.message.Offset, Reason: "effect " + t.effect.Event + " is not implemented"}})
	case end.State == lease.Interrupted:
		return t.refuse(wire.ReasonInterrupted, fmt.Errorf("the outcome of the call is unknown: %w", err))
	case dead:
		return t.refuse(wire.ReasonEffect, err)
	}
	return end.Pause, false
}

// uncalled handles a call that did not begin because its lock was lost: it does not count.
func (t *task) uncalled(ctx context.Context, hold hold, attempt int) (time.Duration, bool) {
	_, over := t.store(ctx, &hold, lease.End{State: lease.Failed, Error: lease.ErrLost.Error(), Attempts: attempt - 1})
	if over != nil {
		return t.end(Outcome{Err: over})
	}
	return 0, false
}

// maybeMade handles a call that may have been made before the database lost commits: like one that
// was cut off, it is left to an operator. A store outside of the database lost nothing.
func (t *task) maybeMade(ctx context.Context, hold hold, attempt int) (time.Duration, bool) {
	err := errors.New("the database lost commits, and the call may have been made before")
	if t.decision.Number != 0 {
		err = errors.New("the database has lost commits since this was requested, and it may have been carried out before: find out, then request it again")
	}
	held, over := t.store(ctx, &hold, lease.End{State: lease.Interrupted, Error: err.Error(), Attempts: attempt - 1})
	switch {
	case over != nil:
		return t.end(Outcome{Err: over})
	case !held:
		return 0, false
	}
	return t.refuse(wire.ReasonInterrupted, fmt.Errorf("the outcome of the call is unknown: %w", err))
}

// crashed handles an effect whose calls were cut off as many times as on_failure permits: their
// process died, or lost the lease.
func (t *task) crashed(ctx context.Context, hold hold, calls int) (time.Duration, bool) {
	err := fmt.Errorf("%d calls were made, and the last one was cut off", calls)
	held, over := t.store(ctx, &hold, lease.End{State: lease.Failed, Error: err.Error()})
	switch {
	case over != nil:
		return t.end(Outcome{Err: over})
	case !held:
		return 0, false
	}
	return t.refuse(wire.ReasonEffect, err)
}

// judge determines what an error of the call means for its lease, and whether the event becomes a
// dead letter because it has failed too often.
func (t *task) judge(attempt int, result []byte, err error, fare fare) (end lease.End, dead bool) {
	end = lease.End{State: lease.Done, Result: result, Attempts: attempt}
	if err == nil {
		return end, false
	}
	end.Result, end.Error = nil, verdict.Storable(err.Error())
	if end.State = lease.Failed; t.effect.Terms.Interrupts && unknown(err) {
		end.State = lease.Interrupted
		return end, false
	}
	p := t.effect.Policy
	end.Pause = backoff.Pause(max(attempt, fare.row), p.InitialBackoff, p.MaxBackoff)
	if after, asked := verdict.Pause(err); asked && after >= 0 {
		end.Pause = after
	}
	forgotten := false
	switch _, unread := errors.AsType[*unreadError](err); {
	case verdict.SaidPermanent(err), unread:
		dead = true
	case fare.away && !fare.own: // nor do failures that were counted before this was known
		forgotten = true
	case uncounted(err), fare.away, errors.Is(err, verdict.ErrNotImplemented):
		end.Attempts--
	case verdict.IsPermanent(err), attempt > p.Retries:
		dead = true
	}
	if dead || forgotten {
		end.Attempts = 0
	}
	return end, dead
}

// uncounted reports whether the event is not at fault for a failure.
func uncounted(err error) bool {
	_, asked := verdict.Pause(err)
	return asked || verdict.IsUnavailable(err)
}

// unknown reports whether an error leaves the outcome of the call unknown: the service did not
// mark the error, and it does not mean that the connection was never opened.
func unknown(err error) bool {
	if is, said := verdict.SaidUnknown(err); said {
		return is
	}
	return !uncounted(err) && !verdict.SaidPermanent(err) && !errors.Is(err, verdict.ErrNotImplemented)
}

// begins returns the context for a call, which contains the delivery.
func (t *task) begins(ctx context.Context, hold hold, attempt int) context.Context {
	p := t.desk.process
	ctx = context.WithValue(ctx, idemtype.DeliveryKey{}, &idemtype.Delivery{
		Consumer: p.Consumer, Event: t.effect.Event, Key: t.key, Token: hold.Token, Attempt: attempt, Message: t.message, Lock: t.lock.had(),
	})
	if p.Hooks == nil {
		return ctx
	}
	return p.Hooks.CallStart(ctx, t.desk.owner.Partition)
}

// made makes the call. The lease is extended until beat is stopped.
func (t *task) made(ctx context.Context, hold hold) (result []byte, beat *heartbeat, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	beat = extend(ctx, hold, t.effect.Terms.Term(), cancel)
	limited, end := context.WithTimeoutCause(ctx, t.effect.Terms.Timeout, errLate)
	defer end()
	result, err = t.contained(limited)
	if err == nil {
		err = t.read(result)
	}
	if err != nil && limited.Err() != nil && errors.Is(err, limited.Err()) {
		err = fmt.Errorf("%w: %w", context.Cause(limited), err)
	}
	return result, beat, err
}

// read decodes a result as the event's rows do. A result that cannot be decoded is not recorded.
func (t *task) read(result []byte) (err error) {
	if t.effect.Read == nil {
		return nil
	}
	defer func() { // the call was made: a panic must not end the process before that is recorded
		if p := recover(); p != nil {
			err = &unreadError{fmt.Errorf("the decoder panicked: %s", watchdog.PanicText(p))}
		}
	}()
	if err := t.effect.Read(result); err != nil {
		return &unreadError{err}
	}
	return nil
}

// unreadError is the error of a call that was made, but whose result cannot be recorded.
type unreadError struct{ err error }

func (e *unreadError) Error() string {
	return "the call was made, but its result cannot be recorded: " + e.err.Error()
}

func (e *unreadError) Unwrap() error { return e.err }

// contained makes the call on a goroutine that the call may end. A panic becomes an error.
func (t *task) contained(ctx context.Context) (result []byte, err error) {
	done := make(chan struct{})
	err = errExit // until it returns
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				t.desk.process.Log.Error("an effect panicked", "topic", t.message.Topic, "partition", t.message.Partition, "event", t.effect.Event,
					"panic", watchdog.PanicText(r), "stack", string(debug.Stack()))
				err = fmt.Errorf("%w: %s", errPanic, watchdog.PanicText(r))
			}
		}()
		result, err = t.effect.Fn(ctx)
		err = verdict.Readable(err)
	}()
	t.watch(ctx, done)
	return result, err
}

// heed is how long a call may outlast its context before that is reported.
const heed = 500 * time.Millisecond

// watch waits for a call. A call that ignores its context keeps its lease as long as it runs, so
// no other call can begin.
func (t *task) watch(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	late := time.NewTimer(heed)
	defer late.Stop()
	select {
	case <-done:
		return
	case <-late.C:
	}
	log := t.desk.process.Log.With("topic", t.message.Topic, "partition", t.message.Partition, "event", t.effect.Event, "offset", t.message.Offset)
	log.Error("an effect is still running after its context ended")
	over := t.desk.process.tally.overdue(t)
	<-done
	over()
	log.Info("an effect that ignored its context has ended")
}
