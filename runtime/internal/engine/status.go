package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/frequency"
	"github.com/idemgen/idemgen/runtime/internal/lag"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// status is what Health and the log report about a partition. The partition's lock guards it.
type status struct {
	why     error     // why it makes no progress; nil while it does
	call    error     // why calls of records make no progress; only their desk sets it
	letter  error     // why calls of letters that are replayed make no progress; only their desk sets it
	effect  error     // what the first record's effect waits for; only the wait for it sets it
	said    string    // the last line about it
	changed time.Time // when it was logged
	// since is when the oldest waiting records were delivered; zero while none wait.
	since   time.Time
	silent  time.Time // since when the Source receives no records although there are some; or zero
	silence string    // why
	handler string    // event of a handler that is still running after its timeout
	overdue time.Time // since when
	awaits  *awaited
	lost    *lost // records that a restore or a failover took back; nil if there are none
}

// reason returns the first reason why the partition makes no progress; nil while it does. Each has
// one writer, so that none clears another's.
func (s *status) reason() error {
	switch {
	case s.why != nil:
		return s.why
	case s.call != nil:
		return s.call
	case s.letter != nil:
		return s.letter
	}
	return s.effect
}

// Health returns why the partition makes no progress; nil while it does.
func (p *Partition) Health(now time.Time) *idemtype.Problem {
	_, why := p.Report(now)
	return why
}

// Report returns the state as it is shown, and at the same moment why the partition makes no
// progress; nil while it does.
func (p *Partition) Report(now time.Time) (state string, why *idemtype.Problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown(), p.problem(now)
}

func (p *Partition) problem(now time.Time) *idemtype.Problem {
	s, waits := p.status, time.Duration(0)
	if !s.since.IsZero() {
		waits = now.Sub(s.since)
	}
	state, why := shown(p.state, s.reason())
	problem := func(code, do string, since time.Time, format string, args ...any) *idemtype.Problem {
		err := fmt.Errorf(format, args...)
		return &idemtype.Problem{Code: code, Topic: p.id.Topic, Partition: p.id.Number, Since: since, Reason: strings.TrimPrefix(err.Error(), state+": "), Do: do, Err: err}
	}
	code, late := strings.ToLower(state), waits > 2*p.process.Service.Limits.BatchTimeout
	halted, _ := errors.AsType[*idemtype.HaltedError](why)
	switch {
	case halted != nil && seen(p.state, why) == protocol.Halted:
		h := problem(string(halted.Code), halted.Ways[0].String(), s.changed, "%w", why)
		if s.handler != "" {
			h.Err = fmt.Errorf("%w; handler %s is still running", why, s.handler)
		}
		h.Reason = halted.Cause()
		return h
	case why != nil && p.state == protocol.Halted:
		return problem(code, doOf[state], s.changed, "%w", why)
	case s.handler != "" && why != nil:
		return problem("handler-running", doHandler, s.overdue, "%s: handler %s is still running after its context ended: %w", state, s.handler, why)
	case s.handler != "":
		return problem("handler-running", doHandler, s.overdue, "%s: handler %s is still running after its context ended", state, s.handler)
	case why != nil:
		do := doOf[state]
		if outage.Waits(why) {
			do = outage.LockAdvice
		}
		return problem(code, do, s.changed, "%s: %w", state, why)
	case late && s.awaits != nil:
		return problem("waiting", doWaiting, s.since, "%v: no progress for %v: the record at offset %d is waiting for %s", p.state, waits.Round(time.Second), s.awaits.offset, s.awaits.what)
	case late:
		return problem("waiting", doWaiting, s.since, "%v: the oldest delivered record has been waiting for %v, longer than two transactions may take", p.state, waits.Round(time.Second))
	case !s.silent.IsZero():
		return problem("silent", doSilent, s.silent, "%v: %s, for %v", p.state, s.silence, now.Sub(s.silent).Round(time.Second))
	case p.state == protocol.Standby || p.state == protocol.Halted:
		return problem(code, doOf[state], s.changed, "%v", p.state)
	case p.lost() != nil:
		return problem("lost-commits", doLost, s.lost.since, "%v: %w", p.state, p.lost())
	}
	return nil
}

// What to do about a partition that is not halted.
const (
	doHandler = "make the handler return when its context ends"
	doWaiting = "look for locks in the database and for slow handlers"
	doSilent  = "look at the client's log, and for transactions of producers that do not end (kafka-transactions.sh find-hanging)"
	doLost    = "if the database was not restored on purpose, find out why it lost commits; then look at its dead letters of class interrupted"
	doMend    = "wait: it is retried; if it lasts, remove the cause"
)

var doOf = map[string]string{
	protocol.Standby.String(): "wait: another process owns the partition; if it lasts, see whether two deployments use one consumer name",
	protocol.Fencing.String(): doMend, protocol.Backoff.String(): doMend, protocol.Doubt.String(): doMend, retrying: doMend,
}

// retrying is the reported state of a partition that retries a batch after a pause.
const retrying = "RETRYING"

// shown is a state and a reason as they are reported. SENT is reported as READY, because it
// changes with every batch.
func shown(state protocol.State, why error) (string, error) {
	if state == protocol.Sent {
		state = protocol.Ready
	}
	later, is := errors.AsType[*verdict.Later](why)
	switch {
	case !is:
		return named(seen(state, why), why), why
	case state == protocol.Ready:
		return retrying, later.Err
	}
	return state.String(), later.Err
}

// seen is a state as Health and Stats have it: a halted partition stays halted while it is looked
// at again. Otherwise a paused one would fail a rollout now and then.
func seen(state protocol.State, why error) protocol.State {
	if _, halted := errors.AsType[*idemtype.HaltedError](why); halted && state == protocol.Fencing {
		return protocol.Halted
	}
	return state
}

// named is the name of a state for operators: that of a halt depends on its reason.
func named(state protocol.State, why error) string {
	if h, ok := errors.AsType[*idemtype.HaltedError](why); ok && state == protocol.Halted {
		return h.Code.State()
	}
	return state.String()
}

// Shown returns the state as it is reported.
func (p *Partition) Shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown()
}

func (p *Partition) shown() string {
	state, _ := shown(p.state, p.status.reason())
	return state
}

// awaited is what a record waits for.
type awaited struct {
	offset int64
	what   string
}

// awaiting sets what the partition waits for; nil means nothing.
func (p *Partition) awaiting(e *awaited) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.awaits = e
}

// Lag returns the gauge of the partition's position and lag.
func (p *Partition) Lag() *lag.Gauge { return &p.lag }

// Silent records since when no records arrive although there are some, and why.
func (p *Partition) Silent(since time.Time, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.silent, p.status.silence = since, why
}

// waiting records that records wait to be applied from now on, or that none do.
func (p *Partition) waiting(any bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.since = time.Time{}
	if any {
		p.status.since = time.Now()
	}
}

// progressed records that the position moved: records that wait now count as waiting from now on.
func (p *Partition) progressed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.status.since.IsZero() {
		p.status.since = time.Now()
	}
}

// tell sets why an owner makes no progress although its state does not change; nil if it does.
func (p *Partition) tell(o *Owner, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owner == o {
		p.show(p.state, p.state, why)
	}
}

// tellLater sets why a transaction cannot begin.
func (o *Owner) tellLater(err error) { o.p.tell(o, &verdict.Later{Err: err}) }

// tellCalls sets why the calls of the owner's records make no progress; nil if they do.
func (o *Owner) tellCalls(why error) { o.tellReason(&o.p.status.call, why) }

// tellLetters does the same for letters that are replayed.
func (o *Owner) tellLetters(why error) { o.tellReason(&o.p.status.letter, why) }

// tellEffect sets what the first record's effect waits for; nil if for nothing.
func (o *Owner) tellEffect(why error) { o.tellReason(&o.p.status.effect, why) }

func (o *Owner) tellReason(of *error, why error) {
	p := o.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owner == o {
		*of = why
		p.show(p.state, p.state, p.status.why)
	}
}

// overtime sets the event of a handler that is still running after its context ended; "" once it
// has ended.
func (p *Partition) overtime(event string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.handler, p.status.overdue = event, time.Now()
}

// show stores why the partition makes no progress, for Health, and logs one line if the reported
// state has changed.
func (p *Partition) show(from, to protocol.State, why error) {
	p.status.why = why // even while it is taken over again, until that succeeds
	if to == protocol.Fencing && (from == protocol.Standby || from == protocol.Halted) {
		if p.standby.again { // perhaps no operator has acted, and it will halt again
			return
		}
		why = nil
	}
	if why == nil && (to == protocol.Ready || to == protocol.Sent) {
		why = p.status.reason()
	}
	state, why := shown(to, why)
	text, said := state, p.status.said
	if why != nil {
		text += why.Error()
	}
	if text == said || (to == protocol.Halted || to == protocol.Fencing) && frequency.SameButNumbers(text, said) {
		return
	}
	p.status.said, p.status.changed = text, time.Now()
	args := []any{"topic", p.id.Topic, "partition", p.id.Number, "state", state}
	fenced, _ := errors.AsType[*idemtype.FencedError](why)
	switch {
	case fenced != nil && fenced.Reason == operatorActed, state == halt.Paused.State():
		p.process.Log.Info("partition", append(args, "reason", why.Error())...)
	case why != nil:
		p.process.Log.Error("partition makes no progress", append(args, "reason", why.Error())...)
	case said != "" || to != protocol.Off:
		p.process.Log.Info("partition", args...)
	}
}
