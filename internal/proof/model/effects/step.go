package effects

import "github.com/idemgen/idemgen/internal/proof/model/explore"

// Step is what can happen next.
type Step = explore.Step[State]

// Rules are what the model runs by.
type Rules struct {
	// DeadLetter is if_interrupted: dead_letter; otherwise an effect that was cut off is retried.
	DeadLetter bool
	// External says that leases are in another store than the ledger: its transaction cannot
	// assert them, and claims the key only.
	External bool
	// Copies says that the second record is a copy of the event, on another partition.
	Copies bool
	// Topics says that the event is known by its offset, and that the second record is another
	// event: the one at the same offset of the topic that is made again.
	Topics bool
	Bug    Bug
}

// event is the event of a record.
func (r *Rules) event(record uint8) uint8 {
	if r.Topics {
		return record
	}
	return 0
}

// lease is the lease of a record's event.
func (r *Rules) lease(s *State, record uint8) *Lease {
	if r.Bug == KeyWithoutTopic {
		return &s.Leases[0]
	}
	return &s.Leases[r.event(record)]
}

// exists reports whether there is a second record, or was a first one.
func (r *Rules) exists(s *State, record int) bool {
	return record == 0 || r.Copies || r.Topics && s.Again
}

// expansion collects the steps from a state.
type expansion struct {
	*Rules
	from  *State
	steps []Step
}

// steps are all that can happen in a state.
func (r *Rules) steps(s *State) []Step {
	t := expansion{Rules: r, from: s}
	for i := range s.Workers {
		t.worker(i)
	}
	for i := range s.Workers {
		if s.Workers[i].Phase != Idle {
			t.fault(Crash, "crash", i, func(a *State, w *Worker) {
				t.excuse(a, w.Record, s.inFlight(i))
				*w = Worker{}
			})
		}
	}
	t.world()
	for i := range t.steps {
		t.steps[i].Violation = r.violated(s, &t.steps[i].After)
	}
	return t.steps
}

// step adds a step of a worker.
func (t *expansion) step(name string, i int, do func(a *State, w *Worker)) {
	x := Step{Name: name, After: *t.from}
	do(&x.After, &x.After.Workers[i])
	t.steps = append(t.steps, x)
}

// fault adds a step that is bounded.
func (t *expansion) fault(f Fault, name string, i int, do func(a *State, w *Worker)) {
	if t.from.Left[f] == 0 {
		return
	}
	t.step(name, i, func(a *State, w *Worker) {
		a.Left[f]--
		do(a, w)
	})
	t.steps[len(t.steps)-1].Fault = true
}

// worker adds what one worker can do.
func (t *expansion) worker(i int) {
	switch w := &t.from.Workers[i]; w.Phase {
	case Idle:
		t.take(i)
	case Owning:
		t.ask(i)
	case Asked:
		t.step("hears of its lease", i, func(a *State, w *Worker) {
			l := t.lease(a, w.Record)
			if w.Phase = Owning; l.State == Processing && l.Token == w.Token {
				w.Phase = Holding
			}
		})
	case Holding:
		t.call(i)
	case Answered, Refused, Unknown:
		t.record(i)
	case Recording:
		t.step("records again", i, func(a *State, w *Worker) { t.end(a, w) })
	case Recorded, Rejecting:
		t.pass(i)
	}
}

// take gives a worker a record that is not passed.
func (t *expansion) take(i int) {
	for n := range t.from.Records {
		r := &t.from.Records[n]
		begin := func(a *State, w *Worker) {
			a.Records[n].Owner = uint8(i + 1)
			*w = Worker{Phase: Owning, Record: uint8(n), Kept: r.Result}
		}
		switch {
		case !t.exists(t.from, n), !t.from.there(n):
		case !r.open():
		case r.Owner == 0, int(r.Owner) == i+1:
			t.step("takes a record", i, begin)
		default:
			t.fault(Move, "takes a record from another worker", i, begin)
		}
	}
}

// ask asks for the lease.
func (t *expansion) ask(i int) {
	s, l := t.from, t.lease(t.from, t.from.Workers[i].Record)
	switch {
	case !s.owns(i):
		t.step("leaves the record", i, func(_ *State, w *Worker) { *w = Worker{} })
	case s.Claimed:
		t.pass(i)
	case l.State == Processing && !l.Over && t.Bug != TakesFromTheLiving:
	default:
		t.step("asks", i, t.acquire)
		t.fault(Loss, "asks, and the answer is lost", i, func(a *State, w *Worker) {
			if t.acquire(a, w); w.Phase == Holding {
				w.Phase = Asked
				return
			}
			w.Phase = Owning
		})
	}
}

// acquire is the statement that takes a lease, and what the worker makes of the row.
func (t *expansion) acquire(a *State, w *Worker) {
	switch l := t.lease(a, w.Record); {
	case l.State == Interrupted && w.Kept == 0 && t.Bug != InterruptedIsFailed:
		w.Phase = Rejecting
	case l.State == Processing && t.DeadLetter && l.Over && t.Bug != InterruptedIsFailed:
		l.State, l.Over = Interrupted, false
		if t.Bug != InterruptedKeepsToken {
			a.Drawn++
			l.Token = a.Drawn
		}
		w.Phase = Rejecting
	case (l.State == Done || l.State == Completed) && t.Bug != CallsFromDone:
		w.Phase, w.Token, w.Result = Recorded, l.Token, l.Result
	case w.Kept != 0:
		a.Drawn++
		*l = Lease{State: Done, Token: a.Drawn, Result: w.Kept}
		w.Phase, w.Token, w.Result = Recorded, l.Token, l.Result
	default:
		if t.Bug != OneToken || a.Drawn == 0 {
			a.Drawn++
		}
		*l = Lease{State: Processing, Token: a.Drawn}
		w.Phase, w.Token = Holding, a.Drawn
	}
}

// call is what the provider can do.
func (t *expansion) call(i int) {
	event := t.event(t.from.Workers[i].Record)
	if t.from.Calls[event] == mostCalls {
		return
	}
	t.step("calls", i, func(a *State, w *Worker) {
		a.Calls[event]++
		w.Phase, w.Result = Answered, event*ofEvent+a.Calls[event]
	})
	t.fault(Refusal, "calls, and nothing is done", i, func(_ *State, w *Worker) { w.Phase = Refused })
	t.fault(Doubt, "calls, and hears nothing", i, func(a *State, w *Worker) {
		a.Calls[event]++
		t.excuse(a, w.Record, true)
		w.Phase = Unknown
	})
}

const (
	mostCalls = 9             // ends what mutants would do for ever
	said      = mostCalls + 1 // is a result that a person found out
	ofEvent   = 2 * mostCalls // results of the second event are greater
)

// record records how a call ended.
func (t *expansion) record(i int) {
	if t.Bug == RecordedWithTheRows && t.from.Workers[i].Phase == Answered {
		t.step("keeps the result", i, func(_ *State, w *Worker) { w.Phase = Recorded })
		return
	}
	t.step("records", i, t.end)
	if t.from.Workers[i].Phase == Answered {
		t.fault(Loss, "records, and the answer is lost", i, func(a *State, w *Worker) {
			t.end(a, w)
			if w.Phase == Recorded {
				w.Phase = Recording
			}
		})
	}
}

// end is the statement that records the end of a call, and what the worker makes of its answer.
func (t *expansion) end(a *State, w *Worker) {
	ends := map[Phase]LeaseState{Answered: Done, Recording: Done, Refused: Failed, Unknown: Failed}
	to := ends[w.Phase]
	if w.Phase == Unknown && t.DeadLetter {
		to = Interrupted
	}
	l := t.lease(a, w.Record)
	same := l.Token == w.Token || t.Bug == RecordedWithoutToken
	held := same && (l.State == Processing || l.State == to)
	if held && l.State == Processing {
		*l = Lease{State: to, Token: l.Token}
		if to == Done {
			l.Result = w.Result
		}
	}
	switch {
	case held && to == Done, to == Done && t.Bug == OwnAnswerKept:
		w.Phase = Recorded
	case held && to == Interrupted:
		w.Phase = Rejecting
	default: // lost, or free again: the row decides
		w.Phase = Owning
	}
}

// pass is the transaction of the ledger. A dead letter claims no key, leaves the lease as it is,
// and keeps the result, if there is one.
func (t *expansion) pass(i int) {
	if w := t.from.Workers[i]; w.Phase == Recorded && t.from.owns(i) && !t.from.Claimed {
		t.fault(Misfit, "passes the record, whose result cannot be read", i, func(a *State, w *Worker) {
			r := &a.Records[w.Record]
			r.How, r.Result, r.Asked = Unfit, w.Result, false
			switch t.Bug {
			case MisfitClaims:
				a.Claimed = true
			case MisfitKeepsNoResult:
				r.Result = 0
			}
			*w = Worker{}
		})
	}
	t.step("passes the record", i, func(a *State, w *Worker) {
		r, l := &a.Records[w.Record], t.lease(a, w.Record)
		asserted := (l.State == Done || l.State == Completed) && (l.Token == w.Token || t.Bug == CompletedWithoutToken)
		if t.Bug == RecordedWithTheRows && l.State == Processing && l.Token == w.Token && t.from.owns(i) {
			l.Result, asserted = w.Result, true
		}
		switch {
		case !t.from.owns(i):
		case a.Claimed:
			r.How = Duplicate
		case w.Phase == Rejecting:
			r.How = Dead
		case !asserted && !t.External && t.Bug != CompletedUnasserted:
			w.Phase = Owning
			return
		default:
			a.Claimed = !t.Topics // whose position says that it was applied
			if r.How, r.Result = Applied, w.Result; !t.External {
				l.State = Completed
			}
		}
		r.Asked = r.Asked && !t.from.owns(i)
		*w = Worker{}
	})
}

// world adds what happens without any worker.
func (t *expansion) world() {
	for n := range t.from.Records {
		if h := t.from.Records[n].How; h == Dead || h == Unfit {
			t.fault(Replay, "a person has a dead letter replayed", 0, func(a *State, _ *Worker) { a.Records[n].Asked = true })
		}
	}
	t.store(0)
	if t.Topics {
		t.store(1)
		t.fault(Topic, "the topic is made again", 0, func(a *State, _ *Worker) { a.Again = true })
	}
}

// store adds what happens to the lease of an event.
func (t *expansion) store(event uint8) {
	s, l := t.from, &t.from.Leases[event]
	over := func(a *State, _ *Worker) { a.Leases[event].Over = true }
	if l.State == Processing && !l.Over {
		if s.holds(l, 0) || s.holds(l, 1) {
			t.fault(Pause, "a lease ends while its holder lives", 0, func(a *State, w *Worker) {
				t.excuse(a, event, true)
				over(a, w)
			})
		} else {
			t.step("the lease of a holder that is gone ends", 0, over)
		}
	}
	if l.State != None && l.State != Completed {
		t.fault(Flush, "the store loses a lease", 0, func(a *State, _ *Worker) {
			if !t.kept(a, event) {
				a.Excused[event]++
			}
			a.Flushed, a.Leases[event] = true, Lease{}
		})
	}
	if l.State == Interrupted {
		t.fault(Person, "a person has it called again", 0, func(a *State, _ *Worker) {
			a.Excused[event]++
			a.Leases[event].State = Failed
		})
		t.fault(Person, "a person says what the result is", 0, func(a *State, _ *Worker) {
			a.Leases[event].State, a.Leases[event].Result = Done, event*ofEvent+said
		})
	}
}

// kept reports whether dead letters must keep the result of an event, so that no call is needed.
func (t *expansion) kept(s *State, event uint8) bool {
	for n := range s.Records {
		if t.exists(s, n) && t.event(uint8(n)) == event && s.Records[n].How != Unfit {
			return false
		}
	}
	return true
}

// excuse counts a call that was cut off: unless a person decides, it may be made again.
func (t *expansion) excuse(a *State, record uint8, is bool) {
	if is && !t.DeadLetter {
		a.Excused[t.event(record)]++
	}
}
