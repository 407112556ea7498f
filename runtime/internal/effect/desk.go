package effect

import (
	"cmp"
	"context"
	"sync"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Desk manages the effects of the records that one owner of a partition has not yet applied.
type Desk struct {
	process *Process
	owner   Owner

	mu    sync.Mutex
	tasks map[int64]*task  // by the record's offset
	last  map[string]*task // the last one of each record key

	telling sync.Mutex
	waiting map[*task]error // those that told last that they wait, with a reason of their own, or nil
}

// Owner is the owner of a partition, as its desk sees it.
type Owner struct {
	Partition idemtype.Partition
	Quit      context.Context  // done when the owner gives the partition up
	Topic     func() wire.UUID // the topic's id; called when an effect begins
	// Gone returns below which offset calls may have been made by commits that are gone, and below
	// which number operators' decisions. It is called when an effect begins.
	Gone func() (lostTo, lostFence int64)
	// Began is called, on any goroutine, before a call is made, with the offset after its record.
	Began func(next int64)
	// Elsewhere returns what a call that must not be repeated waits for, to follow "waits for": its
	// event may be a copy of one that was called by a commit that is gone. "" means nothing.
	Elsewhere func(context.Context) (string, error)
	// Tell is called with the reason why the desk's first effect that has one must wait, or nil.
	Tell func(error)
}

// NewDesk returns the desk of an owner.
func (p *Process) NewDesk(of Owner) *Desk {
	return &Desk{process: p, owner: of, tasks: map[int64]*task{}, last: map[string]*task{}, waiting: map[*task]error{}}
}

// tell sets why a task must wait: err or, if that is nil, that calls of its effect fail, as long
// as they do. A reason lasts no longer than its task, and no other task clears it.
func (d *Desk) tell(t *task, err error, ended bool) {
	d.telling.Lock()
	defer d.telling.Unlock()
	if ended || err == nil && t.course.why() == nil {
		delete(d.waiting, t)
	} else {
		d.waiting[t] = err
	}
	var first *task
	var reason error
	for other, own := range d.waiting {
		if first != nil && other.message.Offset > first.message.Offset {
			continue
		}
		if why := cmp.Or(own, other.course.why()); why != nil {
			first, reason = other, why
		}
	}
	d.owner.Tell(reason)
}

// Start begins the effects of records, unless they have begun already. Effects with the same
// record key run one after another, in the order of the records. by is an operator's decision
// about them. Only the values of ctx are used, not its cancellation.
func (d *Desk) Start(ctx context.Context, waiting []wire.Effect, by lease.Decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range waiting {
		e := &waiting[i]
		offset := e.Message.Offset
		if d.tasks[offset] != nil {
			continue
		}
		t := newTask(d, e, by)
		d.tasks[offset] = t
		if k := e.Message.Key; k != nil {
			t.before = d.last[string(k)]
			d.last[string(k)] = t
		}
		end := fault.Begin(ctx)
		d.process.running.Go(func() {
			defer end()
			t.run(context.WithoutCancel(ctx))
		})
	}
}

// Outcomes returns the known outcomes of effects, by the offset of the record.
func (d *Desk) Outcomes() (results map[int64]wire.EffectResult, refused []deadletter.Letter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	results = map[int64]wire.EffectResult{}
	for offset, t := range d.tasks {
		switch o, over := t.over(); {
		case !over:
		case o.Refused != nil:
			refused = append(refused, *o.Refused)
		case o.Err == nil:
			results[offset] = o.Result
		}
	}
	return results, refused
}

// Why returns what the effect of a record waits for; "" if its call is running, or it has ended.
func (d *Desk) Why(offset int64) string {
	d.mu.Lock()
	t := d.tasks[offset]
	d.mu.Unlock()
	if t == nil {
		return ""
	}
	if what := t.waits.Load(); what != nil {
		return *what
	}
	return ""
}

// Runs reports whether the effect of a record has begun and not yet ended.
func (d *Desk) Runs(offset int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tasks[offset]
	if t == nil {
		return false
	}
	_, over := t.over()
	return !over
}

// Done returns a channel that is closed once the effect of a record has an outcome; nil if it has
// not begun.
func (d *Desk) Done(offset int64) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.tasks[offset]; t != nil {
		return t.done
	}
	return nil
}

// Wait waits until the effect of a record has an outcome. It returns an error if no later record
// may be applied before this one succeeds.
func (d *Desk) Wait(ctx context.Context, offset int64) error {
	d.mu.Lock()
	t := d.tasks[offset]
	d.mu.Unlock()
	if t == nil {
		return nil
	}
	select {
	case <-t.done:
		o, _ := t.over()
		if o.Err != nil { // the next Start begins again
			d.Forget(func(of int64) bool { return of == offset })
		}
		return o.Err
	case <-ctx.Done():
		return ctx.Err()
	case <-d.owner.Quit.Done():
		return d.owner.Quit.Err()
	}
}

// Passed drops the records below next, which have been applied.
func (d *Desk) Passed(next int64) {
	d.Forget(func(offset int64) bool { return offset < next })
}

// Reset drops all known outcomes: the store will be queried again.
func (d *Desk) Reset() {
	d.Forget(func(offset int64) bool { return true })
}

// Forget drops some of the known outcomes.
func (d *Desk) Forget(which func(offset int64) bool) {
	d.forget(func(t *task) bool {
		_, over := t.over()
		return over && which(t.message.Offset)
	})
}

// Withdraw drops some effects. An effect whose call is running ends after that call.
func (d *Desk) Withdraw(which func(offset int64) bool) {
	d.forget(func(t *task) bool {
		if !which(t.message.Offset) {
			return false
		}
		t.withdraw()
		return true
	})
}

func (d *Desk) forget(which func(*task) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for offset, t := range d.tasks {
		if which(t) {
			delete(d.tasks, offset)
			if k := string(t.message.Key); d.last[k] == t {
				delete(d.last, k)
			}
		}
	}
}
