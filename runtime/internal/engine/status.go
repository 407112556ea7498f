package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/lag"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// status is what people may know of a partition. The partition's lock guards it.
type status struct {
	why     error     // why it makes no progress; nil while it does
	call    error     // why calls of effects make none
	said    string    // the last line about it
	changed time.Time // when that was said
	// since is when the oldest records that wait were handed over; zero while none wait.
	since   time.Time
	silent  time.Time // since when the Source gets none although there are some; or zero
	silence string    // why
	handler string    // event of a handler that still runs although its time is over
	overdue time.Time // since when
	awaits  *awaited
}

// Health is why the partition makes no progress; nil while it does.
func (p *Partition) Health(now time.Time) *idemtype.Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, waits := p.status, time.Duration(0)
	if s.why == nil {
		s.why = s.call
	}
	if !s.since.IsZero() {
		waits = now.Sub(s.since)
	}
	state, why := shown(p.state, s.why)
	problem := func(code, do string, since time.Time, format string, args ...any) *idemtype.Problem {
		err := fmt.Errorf(format, args...)
		return &idemtype.Problem{Code: code, Topic: p.id.Topic, Partition: p.id.Number, Since: since, Reason: err.Error(), Do: do, Err: err}
	}
	code, late := strings.ToLower(state), waits > 2*p.process.Service.Limits.BatchTimeout
	halted, _ := errors.AsType[*idemtype.HaltedError](why)
	switch {
	case halted != nil && p.state == protocol.Halted:
		h := problem(string(halted.Code), halted.Remedy, s.changed, "%w", why)
		if s.handler != "" {
			h.Err = fmt.Errorf("%w; handler %s is still running", why, s.handler)
		}
		h.Reason = halted.Reason
		return h
	case why != nil && p.state == protocol.Halted:
		return problem(code, doOf[state], s.changed, "%w", why)
	case s.handler != "" && why != nil:
		return problem("handler-running", doHandler, s.overdue, "%s: handler %s is still running after its context ended: %w", state, s.handler, why)
	case s.handler != "":
		return problem("handler-running", doHandler, s.overdue, "%s: handler %s is still running after its context ended", state, s.handler)
	case why != nil:
		return problem(code, doOf[state], s.changed, "%s: %w", state, why)
	case late && s.awaits != nil:
		return problem("waiting", doWaiting, s.since, "%v: no progress for %v: the record at offset %d is waiting for %s", p.state, waits.Round(time.Second), s.awaits.offset, s.awaits.what)
	case late:
		return problem("waiting", doWaiting, s.since, "%v: the oldest delivered record has been waiting for %v, longer than two transactions may take", p.state, waits.Round(time.Second))
	case !s.silent.IsZero():
		return problem("silent", doSilent, s.silent, "%v: %s, for %v", p.state, s.silence, now.Sub(s.silent).Round(time.Second))
	case p.state == protocol.Standby || p.state == protocol.Halted:
		return problem(code, doOf[state], s.changed, "%v", p.state)
	}
	return nil
}

// What to do about a partition that is not halted.
const (
	doHandler = "make the handler return when its context ends"
	doWaiting = "look for locks in the database and for slow handlers"
	doSilent  = "look at the client's log, and for transactions of producers that do not end (kafka-transactions.sh find-hanging)"
	doMend    = "wait: it is retried; if it lasts, remove the cause"
)

var doOf = map[string]string{
	protocol.Standby.String(): "wait: another process owns the partition; if it lasts, see whether two deployments use one consumer name",
	protocol.Fencing.String(): doMend, protocol.Backoff.String(): doMend, protocol.Doubt.String(): doMend, retrying: doMend,
}

// retrying is what people see of a partition that applies its records again, after a pause.
const retrying = "RETRYING"

// shown is a state and a reason as people see them: batches come and go, so SENT is READY.
func shown(state protocol.State, why error) (string, error) {
	if state == protocol.Sent {
		state = protocol.Ready
	}
	later, is := errors.AsType[*verdict.Later](why)
	switch {
	case !is:
		return state.String(), why
	case state == protocol.Ready:
		return retrying, later.Err
	}
	return state.String(), later.Err
}

// Shown is the state as people see it.
func (p *Partition) Shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	why := p.status.why
	if why == nil {
		why = p.status.call
	}
	state, _ := shown(p.state, why)
	return state
}

// awaited is what a record waits for.
type awaited struct {
	offset int64
	what   string
}

// awaiting says for what the partition waits; nil for nothing.
func (p *Partition) awaiting(e *awaited) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.awaits = e
}

// Lag is how far the partition is.
func (p *Partition) Lag() *lag.Gauge { return &p.lag }

// Silent says since when no records arrive although there are some, and why.
func (p *Partition) Silent(since time.Time, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.silent, p.status.silence = since, why
}

// waiting says that records wait to be applied from now on, or that none do.
func (p *Partition) waiting(any bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.since = time.Time{}
	if any {
		p.status.since = time.Now()
	}
}

// progressed says that the position moved: what waits now, waits from now on.
func (p *Partition) progressed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.status.since.IsZero() {
		p.status.since = time.Now()
	}
}

// tell says why an owner makes no progress although its state stays; nil if it does.
func (p *Partition) tell(o *Owner, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owner == o {
		p.show(p.state, p.state, why)
	}
}

// tellLater says why a transaction cannot begin.
func (o *Owner) tellLater(err error) { o.p.tell(o, &verdict.Later{Err: err}) }

// tellCalls says why the calls of the owner's effects make no progress; nil if they do.
func (o *Owner) tellCalls(why error) {
	p := o.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owner == o {
		p.status.call = why
		p.show(p.state, p.state, p.status.why)
	}
}

// overtime names a handler that still runs although its context has ended; "" if it ended.
func (p *Partition) overtime(event string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.handler, p.status.overdue = event, time.Now()
}

// show keeps why the partition makes no progress, for Health, and logs one line if what
// people see has changed.
func (p *Partition) show(from, to protocol.State, why error) {
	p.status.why = why // also while it is taken over again, until that succeeds
	if to == protocol.Fencing && (from == protocol.Standby || from == protocol.Halted) {
		if p.standby.again { // perhaps nobody acted, and it will halt again
			return
		}
		why = nil
	}
	if why == nil && (to == protocol.Ready || to == protocol.Sent) {
		why = p.status.call
	}
	state, why := shown(to, why)
	text, said := state, p.status.said
	if why != nil {
		text += why.Error()
	}
	if text == said || (to == protocol.Halted || to == protocol.Fencing) && uncounted(text) == uncounted(said) {
		return
	}
	p.status.said, p.status.changed = text, time.Now()
	args := []any{"topic", p.id.Topic, "partition", p.id.Number, "state", state}
	fenced, _ := errors.AsType[*idemtype.FencedError](why)
	switch {
	case fenced != nil && fenced.Reason == operatorActed:
		p.process.Log.Info("partition", append(args, "reason", why.Error())...)
	case why != nil:
		p.process.Log.Error("partition makes no progress", append(args, "reason", why.Error())...)
	case said != "" || to != protocol.Off:
		p.process.Log.Info("partition", args...)
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
