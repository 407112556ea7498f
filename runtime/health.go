package idem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// Health returns nil while every assigned partition makes progress, otherwise an error that
// names each partition that does not, its state, and why: a [HaltedError] with its code and
// remedy, a [FencedError] while another owner has it, the error for which a batch is tried
// again, a handler that goes on although its time is over. A partition whose records wait
// for longer than two transactions may take is named although nothing says why, and so is one
// whose records the client does not hand over.
func (c *Consumer) Health() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for p, w := range c.workers {
		if err := w.health(time.Now()); err != nil {
			errs = append(errs, fmt.Errorf("%s/%d: %w", p.Topic, p.Number, err))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func (w *worker) health(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	waits := time.Duration(0)
	if !w.since.IsZero() {
		waits = now.Sub(w.since)
	}
	switch {
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
