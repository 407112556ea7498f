// Package watchdog runs work that calls code of the service, and returns even if a call never
// ends. The work has one goroutine for all its calls. It must not import any other package of this
// module.
package watchdog

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Rules determine how long a call may take, and which functions are called if it takes longer. T
// describes a call. The functions are called one at a time, and must not block.
type Rules[T any] struct {
	Limit time.Duration // after that a call's context ends
	Heed  time.Duration // how long a call may run after that before Overdue is called
	Grace time.Duration // how long it may run before it is abandoned; longer than Heed

	Overdue func(T)                    // a call has run for Heed after its limit
	Abandon func(T)                    // a call has run for Grace after its limit, and is no longer waited for
	End     func(of T, abandoned bool) // a call that was overdue has ended
}

// ErrExit is the error of work whose goroutine a call ended.
var ErrExit = errors.New("the call ended its goroutine")

// ErrAbandoned is the error of work with a call that did not end. Its goroutine is still running
// that call, but will run nothing after it.
var ErrAbandoned = errors.New("the call is still running although its context has ended")

// Panic is a panic of the work, which Run raises again in its own caller.
type Panic struct {
	Value any
	Stack string // of the goroutine that panicked
}

// PanicText describes a panic without quoting a value that it may contain.
func PanicText(r any) string {
	if err, ok := r.(interface{ RuntimeError() }); ok {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("a value of type %T", r)
}

// Watch is the work's side.
type Watch[T any] struct {
	rules Rules[T]
	work  context.Context

	mu         sync.Mutex
	statements *shared
	ctx        *Context  // of the call that runs; nil between calls
	of         T         // the running call, or the last one
	overdue    bool      // it is still running after its timeout
	abandoned  bool      // it is no longer waited for
	exited     bool      // it ended the goroutine
	over       time.Time // when the end of the work's context was noticed
}

// Run runs work with the context ctx, and returns its result, or ErrExit or ErrAbandoned with the
// call at fault. A panic of the work continues in the caller, as a *Panic, and so does the end of
// its goroutine outside of a call.
func Run[T any](ctx context.Context, rules Rules[T], work func(*Watch[T]) error) (of T, err error) {
	w := &Watch[T]{rules: rules, work: ctx}
	defer w.close()
	done := make(chan error, 1)
	var panicked *Panic
	go func() {
		err := ErrExit
		defer func() {
			if r := recover(); r != nil {
				panicked = &Panic{r, string(debug.Stack())}
			}
			done <- err
		}()
		err = work(w)
	}()
	err = w.wait(done)
	switch {
	case errors.Is(err, ErrAbandoned): // the other fields still belong to the work
	case panicked != nil:
		panic(panicked)
	case err == ErrExit && !w.exited:
		runtime.Goexit()
	}
	return w.of, err
}

// wait waits for the work, unless one of its calls is abandoned.
func (w *Watch[T]) wait(done <-chan error) error {
	over := w.work.Done()
	t := time.NewTimer(w.rules.Limit)
	defer t.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-over:
			over = nil
		case <-t.C:
		}
		next, abandoned := w.check(time.Now())
		if abandoned {
			return ErrAbandoned
		}
		t.Reset(next)
	}
}

// check checks the call that runs, and says when to check again. No call that begins later
// needs a check before.
func (w *Watch[T]) check(now time.Time) (next time.Duration, abandoned bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx == nil {
		return min(w.rules.Limit, w.rules.Heed), false
	}
	over := w.ended(now)
	late := now.Sub(over)
	if late < 0 {
		return -late, false
	}
	w.statements.cancel(context.DeadlineExceeded) // unless the work's context was first
	if late < w.rules.Heed {
		return w.rules.Heed - late, false
	}
	if !w.overdue {
		w.overdue = true
		w.rules.Overdue(w.of)
	}
	if late < w.rules.Grace {
		return w.rules.Grace - late, false
	}
	w.abandoned = true
	w.rules.Abandon(w.of)
	return 0, true
}

// ended is when the context of the call that runs ended or will end.
func (w *Watch[T]) ended(now time.Time) time.Time {
	end, _ := w.ctx.Deadline()
	if w.work.Err() == nil {
		return end
	}
	if w.over.IsZero() {
		w.over = now
	}
	if w.over.Before(w.ctx.begun) {
		return w.ctx.begun
	}
	if w.over.Before(end) {
		return w.over
	}
	return end
}

// Call calls fn, which may use the context of the call: ctx, which the caller ends. It does not
// return if the call was abandoned, or ended its goroutine.
func (w *Watch[T]) Call(of T, ctx *Context, fn func() error) error {
	w.begin(of, ctx)
	returned := false
	defer func() {
		if !returned {
			w.exited = true
			w.end()
		}
	}()
	err := fn()
	returned = true
	if abandoned := w.end(); abandoned {
		runtime.Goexit()
	}
	return err
}

func (w *Watch[T]) begin(of T, ctx *Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.statements == nil || w.statements.Err() != nil {
		w.statements = share(w.work)
	}
	ctx.begin(w.work, w.rules.Limit, w.statements)
	w.ctx, w.of = ctx, of
}

func (w *Watch[T]) end() (abandoned bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.overdue {
		w.rules.End(w.of, w.abandoned)
	}
	w.ctx, w.overdue = nil, false
	return w.abandoned
}

// Aside runs fn in the middle of a call, although fn is not part of it: the call's time does not
// pass. fn may make calls of its own. It does nothing but fn if no call is running.
func (w *Watch[T]) Aside(fn func() error) error {
	w.mu.Lock()
	ctx, of, statements := w.ctx, w.of, w.statements
	if ctx != nil {
		w.ctx, w.statements = nil, nil // a call of fn may run too long
		ctx.pause()
	}
	w.mu.Unlock()
	err := fn()
	if ctx == nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.statements != nil {
		w.statements.cancel(context.Canceled)
	}
	ctx.resume()
	w.ctx, w.of, w.statements = ctx, of, statements
	return err
}

// close gives back what the watch holds.
func (w *Watch[T]) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.statements != nil {
		w.statements.cancel(context.Canceled)
	}
}
