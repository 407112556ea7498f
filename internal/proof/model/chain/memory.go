package chain

import "github.com/idemgen/idemgen/internal/protocol"

// happen takes a worker through the protocol's table and does to its memory what the table
// says. a is the attempt that was acknowledged or found.
func (r *Rules) happen(x *Step, i int, e protocol.Event, a Attempt) {
	w := &x.After.Workers[i]
	next, memory, ok := r.Next(w.State, e)
	if !ok {
		x.violated("the table has no step from %v when %v", w.State, e)
		return
	}
	switch memory {
	case protocol.Forward, protocol.Adopt:
		x.settle(r, i, a)
	case protocol.Load:
		x.load(r, i, a)
	case protocol.Discard:
		x.forget(r, i)
	}
	w.State = next
}

// build decides what the messages up to end do, in offset order, as the worker knows it.
func (r *Rules) build(w *Worker, end uint8) Attempt {
	a := Attempt{Next: end}
	known := w.Keys
	for o := w.Next; o < end; o++ {
		key := set(1) << keyOf[o]
		switch {
		case w.Refused&(1<<o) != 0:
			a.Dead |= 1 << o
		case known&key == 0:
			a.Applied |= 1 << o
			known |= key
		}
	}
	return a
}

// claims are the keys that an attempt or a row adds to those that are known.
func (r *Rules) claims(applied, dead set) set {
	if r.Bug == LetterClaims {
		return keys(applied | dead)
	}
	return keys(applied)
}

// settle moves forward to a row that stands behind the tail, by the content of an attempt.
func (x *Step) settle(r *Rules, i int, a Attempt) {
	s := &x.After
	w := &s.Workers[i]
	seq := w.Seq + 1
	if row := &s.Rows[min(seq, maxRows-1)]; seq >= s.N || row.Token != a.Token || row.Next != a.Next || row.Applied != a.Applied || row.Dead != a.Dead {
		x.violated("I5, I6: a worker moves forward to a row that does not stand, or has other content")
		return
	}
	passed := a.Next - w.Next
	w.Seq, w.Token, w.Next = seq, a.Token, a.Next
	w.Keys = (w.Keys | r.claims(a.Applied, a.Dead)) & toCome(a.Next)
	w.Attempts = [maxAttempts]Attempt{}
	w.Failing -= min(w.Failing, passed)
	w.Refused &= 0xff << a.Next
}

// load builds the memory from the chain up to the worker's own fence.
func (x *Step) load(r *Rules, i int, fence Attempt) {
	s := &x.After
	w := &s.Workers[i]
	seq, ok := s.tail()
	if !ok || s.Rows[seq].Token != fence.Token {
		x.violated("I5: a memory is loaded without a fence")
		return
	}
	old := w.Keys // of planted bugs only: no keys outlive a memory
	*w = Worker{State: w.State, Loaded: true, Seq: seq, Token: fence.Token, Next: s.Rows[seq].Next, Keys: s.known(r, seq)}
	if old&outlived != 0 {
		w.Keys = old & toCome(w.Next)
	}
}

// known are the keys that rows up to seq claim, of messages still to come behind it.
func (s *State) known(r *Rules, seq uint8) (all set) {
	for n := range seq + 1 {
		if s.visible(n) {
			all |= r.claims(s.Rows[n].Applied, s.Rows[n].Dead)
		}
	}
	return all & toCome(s.Rows[seq].Next)
}

// forget discards a memory. Whatever is under way goes on without the worker.
func (x *Step) forget(r *Rules, i int) {
	s := &x.After
	by := uint8(i + 1)
	for n := range s.N {
		if s.Rows[n].By == by {
			s.Rows[n].By = nobody
		}
	}
	for n := range s.Ops {
		op := &s.Ops[n]
		if op.Wait == by {
			op.Wait = nobody
		}
		if op.Row.By == by {
			op.Row.By = nobody
		}
	}
	old := s.Workers[i]
	s.Workers[i] = Worker{}
	if r.Bug == MemoryOutlivesRevoke && (old.Loaded || old.Keys&outlived != 0) {
		s.Workers[i].Keys = old.Keys | outlived
	}
}

// outlived marks keys that outlive their memory, in planted bug 12. It is no key.
const outlived set = 1 << (setBits - 1)

// condemn draws the conclusion from a refused batch: search in it, or condemn the only message.
func (r *Rules) condemn(x *Step, op *Statement) {
	if op.Wait == nobody {
		return
	}
	w := &x.After.Workers[op.Wait-1]
	w.Failing = op.Row.Next - op.Prev
	if w.Failing == 1 {
		w.Refused |= 1 << op.Prev
	}
}

func (w *Worker) addAttempt(a Attempt) {
	for i := range w.Attempts {
		if w.Attempts[i].Token == 0 {
			w.Attempts[i] = a
			return
		}
	}
	panic("model: more attempts are open than the size of the model allows")
}

// attempt finds the attempt with a token.
func (w *Worker) attempt(token uint8) (Attempt, bool) {
	for _, a := range w.Attempts {
		if a.Token == token {
			return a, true
		}
	}
	return Attempt{}, false
}

// latest is the attempt sent last.
func (w *Worker) latest() (a Attempt) {
	for _, b := range w.Attempts {
		if b.Token != 0 {
			a = b
		}
	}
	return a
}
