package idem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// Health returns nil while the service runs and every assigned partition makes progress. Else
// its error has one line per reason.
//
// Of the service as a whole: [Consumer.Run] was not called or has ended; the database was not
// reached since the start; the broker does not answer, a topic does not exist, or the group
// has not shared its partitions out, as far as the [Source] tells. A member of a group that
// has more members than partitions is healthy, and has none. Also, for an hour, a copy that came
// through another partition than the first, although the spec says copies: same_partition;
// a rollout that waits for Health waits for that hour.
//
// Of each partition that makes no progress, its state and why: a [HaltedError] with its code
// and remedy, a [FencedError] while another owner has it, the error for which a batch is tried
// again, a handler that goes on although its time is over. A partition whose records wait
// for longer than two transactions may take is named although nothing says why, and so is one
// whose records the client does not hand over.
//
// It is meant for alerts and for readiness: a rollout waits until the new process works. It
// is no liveness check, because a restart cures none of these: an outage ends by itself, and
// a partition that is HALTED waits for a person. It asks nobody and returns at once.
func (c *Consumer) Health() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	if why := c.run.Why(); why != nil {
		errs = append(errs, why)
	} else if why := c.group.Why(); why != nil {
		errs = append(errs, why)
	}
	if why := c.audit.Why(); why != nil {
		errs = append(errs, why)
	}
	whole := len(errs)
	for p, w := range c.workers {
		if err := w.health(time.Now()); err != nil {
			errs = append(errs, fmt.Errorf("%s/%d: %w", p.Topic, p.Number, err))
		}
	}
	slices.SortFunc(errs[whole:], func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

var (
	errNotRun    = errors.New("the service is not started: Run was not called")
	errStarting  = errors.New("the service starts: the database was not reached yet")
	errEnded     = errors.New("the service has ended: Run has returned")
	errNotJoined = errors.New("the group has not shared its partitions out yet")
)

// joinPatience is how long a group may take to share its partitions out before the log says
// that it has not. Health says so at once.
const joinPatience = 5 * time.Second

func (w *worker) health(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	waits := time.Duration(0)
	if !w.since.IsZero() {
		waits = now.Sub(w.since)
	}
	switch {
	case w.handler != "" && w.why != nil:
		return fmt.Errorf("%v: handler %s goes on although its context has ended: %w", w.state, w.handler, w.why)
	case w.handler != "":
		return fmt.Errorf("%v: handler %s goes on although its context has ended", w.state, w.handler)
	case w.why != nil:
		return fmt.Errorf("%v: %w", w.state, w.why)
	case waits > 2*w.c.service.Limits.BatchTimeout:
		return fmt.Errorf("%v: the oldest record that was handed over waits for %v, longer than two transactions may take", w.state, waits.Round(time.Second))
	case !w.silent.IsZero():
		return fmt.Errorf("%v: the broker has records, but the client hands none over since %v ago", w.state, now.Sub(w.silent).Round(time.Second))
	case w.state == protocol.Standby || w.state == protocol.Halted:
		return errors.New(w.state.String())
	}
	return nil
}

// waiting says that records wait to be applied from now on, or that none do.
func (w *worker) waiting(any bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Time{}
	if any {
		w.since = time.Now()
	}
}

// progressed says that the position moved: what waits now, waits from now on.
func (w *worker) progressed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.since.IsZero() {
		w.since = time.Now()
	}
}

// tell says, of an owner that stands where it stood, why it makes no progress; nil if it does.
func (w *worker) tell(o *owner, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owner == o {
		w.show(w.state, w.state, why)
	}
}

// overtime names a handler that goes on although its context has ended; "" if it ended.
func (w *worker) overtime(event string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handler = event
}
