package effects

import "github.com/idemgen/idemgen/runtime/internal/protocol/model/explore"

// Step is what can happen next.
type Step = explore.Step[State]

// Rules are what the model runs by.
type Rules struct {
	// DeadLetter is if_interrupted: dead_letter; otherwise an effect that was cut off is retried.
	DeadLetter bool
	// External says that leases are in another store than the ledger: its transaction cannot
	// assert them, and claims the key only.
	External bool
	Copies   bool // the event has a copy on another partition
	Bug      Bug
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
				t.excuse(a, s.inFlight(i))
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
			if w.Phase = Owning; a.Lease.State == Processing && a.Lease.Token == w.Token {
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
			*w = Worker{Phase: Owning, Record: uint8(n)}
		}
		switch {
		case r.How != Waiting, n > 0 && !t.Copies:
		case r.Owner == 0, int(r.Owner) == i+1:
			t.step("takes a record", i, begin)
		default:
			t.fault(Move, "takes a record from another worker", i, begin)
		}
	}
}

// ask asks for the lease.
func (t *expansion) ask(i int) {
	switch s := t.from; {
	case !s.owns(i):
		t.step("leaves the record", i, func(_ *State, w *Worker) { *w = Worker{} })
	case s.applied():
		t.pass(i)
	case s.Lease.State == Processing && !s.Lease.Over && t.Bug != TakesFromTheLiving:
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
	switch l := &a.Lease; {
	case l.State == Interrupted && t.Bug != InterruptedIsFailed:
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
	if t.from.Calls == mostCalls {
		return
	}
	t.step("calls", i, func(a *State, w *Worker) {
		a.Calls++
		w.Phase, w.Result = Answered, a.Calls
	})
	t.fault(Refusal, "calls, and nothing is done", i, func(_ *State, w *Worker) { w.Phase = Refused })
	t.fault(Doubt, "calls, and hears nothing", i, func(a *State, w *Worker) {
		a.Calls++
		t.excuse(a, true)
		w.Phase = Unknown
	})
}

// mostCalls ends what mutants would do for ever.
const mostCalls = 9

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
	l := &a.Lease
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

// pass is the transaction of the ledger.
func (t *expansion) pass(i int) {
	t.step("passes the record", i, func(a *State, w *Worker) {
		r, l := &a.Records[w.Record], &a.Lease
		asserted := (l.State == Done || l.State == Completed) && (l.Token == w.Token || t.Bug == CompletedWithoutToken)
		if t.Bug == RecordedWithTheRows && l.State == Processing && l.Token == w.Token && t.from.owns(i) {
			l.Result, asserted = w.Result, true
		}
		switch {
		case !t.from.owns(i):
		case a.applied():
			r.How = Duplicate
		case w.Phase == Rejecting:
			r.How = Dead
		case !asserted && !t.External && t.Bug != CompletedUnasserted:
			w.Phase = Owning
			return
		default:
			if r.How, r.Result = Applied, w.Result; !t.External {
				l.State = Completed
			}
		}
		*w = Worker{}
	})
}

// world adds what happens without any worker.
func (t *expansion) world() {
	s := t.from
	over := func(a *State, _ *Worker) { a.Lease.Over = true }
	if s.Lease.State == Processing && !s.Lease.Over {
		if s.holds(0) || s.holds(1) {
			t.fault(Pause, "a lease ends while its holder lives", 0, func(a *State, w *Worker) {
				t.excuse(a, true)
				over(a, w)
			})
		} else {
			t.step("the lease of a holder that is gone ends", 0, over)
		}
	}
	if s.Lease.State != None && s.Lease.State != Completed {
		t.fault(Flush, "the store loses its data", 0, func(a *State, _ *Worker) {
			a.Excused++
			a.Flushed, a.Lease = true, Lease{}
		})
	}
	if s.Lease.State == Interrupted {
		t.fault(Person, "a person has it called again", 0, func(a *State, _ *Worker) {
			a.Excused++
			a.Lease.State = Failed
		})
		t.fault(Person, "a person says what the result is", 0, func(a *State, _ *Worker) {
			a.Lease.State, a.Lease.Result = Done, said
		})
	}
}

// said is a result that a person found out.
const said = mostCalls + 1

// excuse counts a call that was cut off: unless a person decides, it may be made again.
func (t *expansion) excuse(a *State, is bool) {
	if is && !t.DeadLetter {
		a.Excused++
	}
}
