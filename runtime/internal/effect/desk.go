package effect

import (
	"context"
	"sync"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Desk has the effects of the records that one owner of a partition has not passed yet.
type Desk struct {
	process   *Process
	partition idemtype.Partition
	topic     func() wire.UUID // the topic's id
	quit      context.Context  // ends when the owner gives the partition up
	tell      func(error)      // hears why an effect has to wait; nil when it has not

	mu    sync.Mutex
	tasks map[int64]*task  // by the record's offset
	last  map[string]*task // of each record key
}

// NewDesk returns the desk of an owner, who gives up when quit ends. topic is asked for the
// topic's id when an effect begins. tell hears why effects wait: the store cannot be asked, or
// calls fail.
func (p *Process) NewDesk(of idemtype.Partition, topic func() wire.UUID, quit context.Context, tell func(error)) *Desk {
	return &Desk{process: p, partition: of, topic: topic, quit: quit, tell: tell, tasks: map[int64]*task{}, last: map[string]*task{}}
}

// Start begins effects of records, unless they were begun before. Those of one record key run one
// after the other, in the order of the records. by is what a person decided about them. ctx gives
// them its values only.
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
		go func() {
			defer end()
			t.run(context.WithoutCancel(ctx))
		}()
	}
}

// Outcomes are what is known of effects, by the offset of the record.
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

// Why says what the effect of a record waits for; "" if its call runs, or it is over.
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

// Runs reports whether the effect of a record has begun and is not over.
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

// Wait waits until the effect of a record has an outcome, and returns the error that lets nothing
// go on after it, if that is its outcome.
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
		if o.Err != nil { // whoever asks again begins again
			d.Forget(func(of int64) bool { return of == offset })
		}
		return o.Err
	case <-ctx.Done():
		return ctx.Err()
	case <-d.quit.Done():
		return d.quit.Err()
	}
}

// Passed forgets the records below next.
func (d *Desk) Passed(next int64) {
	d.Forget(func(offset int64) bool { return offset < next })
}

// Reset forgets what is known of all effects that are over: the store is asked again.
func (d *Desk) Reset() {
	d.Forget(func(offset int64) bool { return true })
}

// Forget forgets what is known of some effects that are over.
func (d *Desk) Forget(which func(offset int64) bool) {
	d.forget(func(t *task) bool {
		_, over := t.over()
		return over && which(t.message.Offset)
	})
}

// Withdraw forgets some effects. One that is not over ends after its call, if there is one.
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
