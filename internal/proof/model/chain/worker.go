package chain

import "github.com/idemgen/idemgen/internal/protocol"

// workers lets each worker that waits for nothing do what its state says.
func (t *expansion) workers() {
	for i := range t.from.Workers {
		if t.from.waits(i) {
			if t.rules.Bug == TwoAppends && t.from.Workers[i].State == protocol.Sent {
				t.batches(i, -1)
			}
			continue
		}
		switch w := &t.from.Workers[i]; w.State {
		case protocol.Fencing:
			t.takeOver(i)
		case protocol.Ready:
			t.batches(i, int(protocol.Due))
		case protocol.Sent:
			if w.ReadRow {
				t.readRow(i)
			} else {
				t.batches(i, -1) // after a race for a key
			}
		case protocol.Doubt:
			if t.rules.Bug == DoubtByReading {
				t.readInDoubt(i)
			} else {
				t.batches(i, int(protocol.Connected))
			}
		case protocol.Backoff:
			t.move(i, protocol.Rested)
		case protocol.Standby, protocol.Halted:
			if t.from.helped() || w.State == protocol.Standby && t.from.paused() {
				t.move(i, protocol.Operator)
			}
		}
	}
}

// idle lets happen what happens only when all else stands still: a worker in STANDBY takes
// over; one that is ready, with nothing to send, reads the tail; a person helps one that is
// halted.
func (t *expansion) idle() {
	for i := range t.from.Workers {
		switch w := &t.from.Workers[i]; w.State {
		case protocol.Standby:
			t.move(i, protocol.Quiet)
		case protocol.Ready:
			if tail, ok := t.from.tail(); !ok || tail < w.Seq || t.from.Rows[w.Seq].Token != w.Token {
				t.move(i, protocol.Gone)
			}
		}
	}
	for i := range t.from.Workers {
		if t.from.Workers[i].State == protocol.Halted && !t.from.helped() {
			t.operate(t.begin(Operate, -1), Operator)
			return
		}
	}
}

// helped reports whether an operator appended the tail, or made the stream.
func (s *State) helped() bool {
	tail, ok := s.tail()
	return ok && (s.Rows[tail].Kind == Operator || s.Rows[tail].Kind == Genesis)
}

// paused reports whether an operator's pause is the tail.
func (s *State) paused() bool {
	tail, ok := s.tail()
	return ok && s.Rows[tail].Kind == Pause
}

// move takes a step of the table, if there is one, without sending anything.
func (t *expansion) move(i int, e protocol.Event) {
	if _, _, ok := t.rules.Next(t.from.Workers[i].State, e); !ok {
		return
	}
	x := t.begin(Move, i)
	x.Event = e
	t.rules.happen(x, i, e, Attempt{})
}

// takeOver is the assign procedure: find the stream or make it, read the tail, append a fence.
func (t *expansion) takeOver(i int) {
	tail, chain := t.from.tail()
	genesis := !t.from.Stream || !chain && t.rules.Bug == SecondGenesis
	switch {
	case genesis:
		x := t.begin(SendGenesis, i)
		if t.rules.Bug == SecondGenesis && t.from.Stream {
			// Another stream in all but name: what was applied before is forgotten.
			x.restart()
		}
		x.dispatch(Statement{Wait: uint8(i + 1), Row: Row{Kind: Genesis, Token: x.After.name()}})
	case !chain, t.from.paused() && t.rules.Bug != PauseIgnored:
		t.move(i, protocol.Refused)
	case t.rules.Bug == NoFence:
		t.takeOverUnfenced(i)
	default:
		x := t.begin(SendFence, i)
		r := &x.After.Rows[tail]
		x.dispatch(Statement{Wait: uint8(i + 1), Seq: tail, Pred: r.Token, Prev: r.Next, Row: Row{Kind: Fence, Token: x.After.name(), Next: r.Next}})
	}
}

// batches sends whatever the worker may send. An event is taken first unless it is -1.
func (t *expansion) batches(i int, event int) {
	w := &t.from.Workers[i]
	t.preRead(i, event)
	last := uint8(Messages)
	switch {
	case w.Failing == 1:
		last = w.Next + 1
	case w.Failing > 1:
		last = w.Next + w.Failing - 1 // at most all but one of those that fail together
	}
	for end := w.Next + 1; end <= last; end++ {
		x := t.begin(Send, i)
		if event >= 0 {
			x.Event = protocol.Event(event)
			t.rules.happen(x, i, x.Event, Attempt{})
		}
		if x.Violation != "" || x.After.Workers[i].State != protocol.Sent {
			x.Act = Move
			return // a mutant of the table leads elsewhere
		}
		t.rules.send(x, i, end)
	}
}

// preRead is what keys that are claimed anywhere add: they are read before a batch is sent,
// and one that a row behind the worker's tail holds shows that an attempt committed.
func (t *expansion) preRead(i int, event int) {
	w := &t.from.Workers[i]
	seq := w.Seq + 1
	if !t.from.visible(seq) || t.from.Rows[seq].By != uint8(i+1) || t.from.Rows[seq].Applied == 0 || t.from.waits(i) {
		return
	}
	x := t.begin(PreRead, i)
	if event >= 0 {
		x.Event = protocol.Event(event)
		t.rules.happen(x, i, x.Event, Attempt{})
	}
	x.After.Workers[i].ReadRow = x.After.Workers[i].State == protocol.Sent
}

// send sends one append with the messages up to end.
func (r *Rules) send(x *Step, i int, end uint8) {
	s := &x.After
	w := &s.Workers[i]
	if !w.Loaded {
		x.violated("I16: a worker without a memory appends a batch")
		return
	}
	if s.waits(i) {
		x.violated("I7: two appends of one worker are under way")
		return
	}
	a := r.build(w, end)
	a.Token = s.name()
	if r.Bug == TokenPerWorker || r.Bug == TailBearsMyToken {
		a.Token = w.Token
	}
	x.From = w.Next
	x.dispatch(Statement{
		Wait: uint8(i + 1), Seq: w.Seq, Pred: w.Token, Prev: w.Next,
		Row: Row{Kind: Batch, Token: a.Token, Next: a.Next, Applied: a.Applied, Dead: a.Dead, By: uint8(i + 1)},
	})
	w.addAttempt(a)
	if r.Bug == KeysEarly {
		w.Keys |= keys(a.Applied)
	}
}

// dispatch puts a statement on its way.
func (x *Step) dispatch(op Statement) {
	op.Stage = OnTheWay
	x.From, x.Row = op.Prev, op.Row
	for i := range x.After.Ops {
		if x.After.Ops[i].Stage == None {
			x.After.Ops[i] = op
			return
		}
	}
	panic("model: too many statements are under way for the size of the model")
}

// reply tells a worker what became of its statement.
func (r *Rules) reply(x *Step, op *Statement, e protocol.Event) {
	if op.Wait == nobody {
		return
	}
	i := int(op.Wait - 1)
	w := &x.After.Workers[i]
	switch {
	case op.Row.Kind == Genesis && (e == protocol.Acked || e == protocol.Foreign):
		// The stream is there, whoever made it: its tail is read next.
	case r.Bug == TailBearsMyToken && w.State == protocol.Sent && (e == protocol.Foreign || e == protocol.Gone) && x.After.tailBears(w.Token):
		r.happen(x, i, protocol.Acked, w.latest())
	case w.State == protocol.Sent && e == protocol.Foreign:
		w.ReadRow = true // a row stands there: whose it is must be read
	default:
		r.happen(x, i, e, Attempt{op.Row.Token, op.Row.Next, op.Row.Applied, op.Row.Dead})
	}
}

// readRow reads the row that stands in the append's place.
func (t *expansion) readRow(i int) {
	x := t.begin(ReadRow, i)
	w := &x.After.Workers[i]
	w.ReadRow = false
	seq := w.Seq + 1
	if !x.After.visible(seq) { // it stood there, and is gone
		x.Event = protocol.Foreign
		t.rules.happen(x, i, x.Event, Attempt{})
		return
	}
	row := &x.After.Rows[seq]
	a, own := w.attempt(row.Token)
	if own != (row.By == uint8(i+1)) {
		x.violated("I5, I8: whose row stands in an append's place was mistaken")
		return
	}
	if !own {
		x.Event = protocol.Foreign
		if t.rules.Bug == MemoryKeptWhenFenced {
			x.After.rereadTail(w)
			return
		}
		t.rules.happen(x, i, x.Event, Attempt{})
		return
	}
	if t.rules.Bug == AdoptsLatest {
		a = w.latest()
	}
	x.Event = protocol.Own
	t.rules.happen(x, i, x.Event, a)
}
