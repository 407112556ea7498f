package letters

import "github.com/idemgen/idemgen/internal/proof/model/explore"

// Rules are what the model runs by.
type Rules struct {
	Poison [records]bool // records that are refused until the code is mended
	Bug    Bug
}

// Explore visits every state within a bound, until something is violated.
func Explore(r *Rules, left Faults) explore.Exploration {
	return explore.Run(State{Left: left}, r.steps, over, "without further faults a record or a request is never done")
}

// over reports whether all records were passed, nobody waits for an answer, and records wait only
// behind a dead letter.
func over(s *State) bool {
	p := s.parked()
	return s.Next == records && s.Asked == [records]LetterState{} && (p.Waiting == 0 || p.Dead > 0)
}

// expansion collects the steps from a state.
type expansion struct {
	*Rules
	from  *State
	steps []explore.Step[State]
}

func (r *Rules) steps(s *State) []explore.Step[State] {
	t := expansion{Rules: r, from: s}
	for i := range s.Workers {
		t.worker(i)
	}
	t.people()
	for i := range t.steps {
		t.steps[i].Violation = violated(s, &t.steps[i].After)
	}
	return t.steps
}

// step adds a step of a worker.
func (t *expansion) step(name string, i int, do func(a *State, w *Worker)) {
	x := explore.Step[State]{Name: name, After: *t.from}
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
	w := &t.from.Workers[i]
	if w.Phase == Idle {
		t.assign(i)
		return
	}
	t.fault(Crash, "crash", i, func(_ *State, w *Worker) { *w = Worker{} })
	if w.Phase == Fenced {
		t.step("loads", i, func(a *State, w *Worker) {
			t.fenceOrLoad(a, w, i, t.Bug == LoadedBeforeFence)
			w.Phase = Ready
		})
		return
	}
	own := w.Phase == Doubt && t.from.Seq == w.Seq+1 && int(t.from.Last) == i+1
	if t.from.Seq != w.Seq && !own && (w.Phase != Settling || t.Bug != SettlesOutsideTheChain) {
		t.step("finds another one's row", i, func(_ *State, w *Worker) { *w = Worker{} })
		return
	}
	switch w.Phase {
	case Ready:
		t.deliver(i)
		t.look(i)
	case Settling:
		t.settle(i)
	case Doubt:
		t.step("finds out", i, func(_ *State, w *Worker) {
			if own {
				w.forward()
			}
			w.ready()
		})
	}
}

// assign makes a worker the owner: it appends a row, behind which nobody else's append fits, and
// loads its memory then.
func (t *expansion) assign(i int) {
	begin := func(a *State, w *Worker) {
		*w = Worker{Phase: Fenced}
		t.fenceOrLoad(a, w, i, t.Bug != LoadedBeforeFence)
	}
	if t.from.Workers[1-i].Phase == Idle {
		t.step("becomes the owner", i, begin)
		return
	}
	t.fault(Move, "becomes the owner beside another one", i, begin)
}

func (t *expansion) fenceOrLoad(a *State, w *Worker, i int, fence bool) {
	if fence {
		a.Seq, a.Last = a.Seq+1, uint8(i+1)
		w.Seq = a.Seq
		return
	}
	w.Next, w.Parked = a.Next, a.parked()
}

// ready leaves the worker with nothing but its memory.
func (w *Worker) ready() { *w = Worker{Phase: Ready, Seq: w.Seq, Next: w.Next, Parked: w.Parked} }

// forward moves the memory with the row that was appended.
func (w *Worker) forward() { w.Seq, w.Next, w.Parked = w.Seq+1, w.AfterNext, w.AfterParked }

// commit adds what can become of a transaction: it is acknowledged, or its answer is lost.
func (t *expansion) commit(name string, i int, do func(a *State, w *Worker)) {
	commit := func(a *State, w *Worker) {
		w.AfterNext, w.AfterParked = w.Next, w.Parked
		do(a, w)
		if t.Bug == MemoryMovesWhenSent {
			w.Next, w.Parked = w.AfterNext, w.AfterParked
		}
		if t.Bug != SettlesOutsideTheChain || w.Phase != Settling {
			a.Seq, a.Last = a.Seq+1, uint8(i+1)
		}
	}
	t.step(name, i, func(a *State, w *Worker) {
		before := a.Seq
		commit(a, w)
		w.forward()
		w.Seq -= before + 1 - a.Seq
		w.ready()
	})
	t.fault(Loss, name+", and the answer is lost", i, func(a *State, w *Worker) {
		commit(a, w)
		w.Phase = Doubt
	})
	t.fault(Loss, name+", which is lost", i, func(a *State, w *Worker) {
		undone := a.Database
		commit(a, w)
		a.Database, w.Phase = undone, Doubt
	})
}
