package chain

import "github.com/idemgen/idemgen/internal/protocol"

// server lets every statement under way take its next step.
func (t *expansion) server() {
	for i := range t.from.Ops {
		switch op := &t.from.Ops[i]; op.Stage {
		case OnTheWay:
			t.start(i, op)
		case Started:
			t.insert(i, op)
		case Inserted:
			t.commit(i, op)
		}
	}
}

// on begins a step of a statement and returns it with the statement's copy in it.
func (t *expansion) on(act Act, i int) (*Step, *Statement) {
	op := &t.from.Ops[i]
	x := t.begin(act, int(op.Wait)-1)
	x.From, x.Row = op.Prev, op.Row
	return x, &x.After.Ops[i]
}

// end takes a statement out of the server and tells whoever waits for it.
func (t *expansion) end(x *Step, i int, e protocol.Event) {
	op := x.After.Ops[i]
	x.Event = e
	x.After.Ops[i] = Statement{}
	t.rules.reply(x, &op, e)
}

func (t *expansion) refuse(i int, e protocol.Event) *Step {
	x, _ := t.on(Refuse, i)
	t.end(x, i, e)
	return x
}

// start finds the predecessor, by seq, token and position. None is 23502.
func (t *expansion) start(i int, op *Statement) {
	p := &t.from.Rows[op.Seq]
	found := t.from.visible(op.Seq) && p.Token == op.Pred && p.Next == op.Prev
	switch {
	case op.Row.Kind == Genesis, t.rules.Bug == NoPredecessor:
		found = true
	case t.rules.Bug == PredecessorWithoutToken:
		found = t.from.visible(op.Seq) && p.Next == op.Prev
	}
	if !found {
		t.refuse(i, protocol.Gone)
		return
	}
	_, started := t.on(Start, i)
	started.Stage = Started
}

// insert meets the unique index: a row at the same seq is 23505, one in flight is waited
// for. A genesis meets that of the stream's identity.
func (t *expansion) insert(i int, op *Statement) {
	stands := t.from.visible(op.seq())
	if op.Row.Kind == Genesis && t.rules.Bug != GenesisWithoutStream {
		stands = t.from.Stream
	}
	if t.rules.Bug == NoUniqueIndex {
		stands = false
	}
	switch {
	case stands && t.rules.Bug == ConflictIgnored && op.Row.Kind == Batch:
		x, _ := t.on(Commit, i)
		x.loosely(op.Row)
		t.end(x, i, protocol.Acked)
	case stands:
		t.refuse(i, protocol.Foreign)
	case t.competitor(i, op) && t.rules.Bug != NoUniqueIndex:
		// waits until that one ends
	default:
		x, inserted := t.on(Insert, i)
		inserted.Stage = Inserted
		switch t.rules.Bug {
		case EffectOutside:
			x.loosely(Row{Applied: op.Row.Applied})
		case LetterOutside:
			x.loosely(Row{Dead: op.Row.Dead})
		case AcknowledgedEarly:
			if op.Row.Kind == Batch {
				inserted.Wait = nobody
				t.rules.reply(x, op, protocol.Acked)
			}
		}
	}
}

func (t *expansion) competitor(i int, op *Statement) bool {
	for j := range t.from.Ops {
		other := &t.from.Ops[j]
		if j != i && other.Stage == Inserted && other.seq() == op.seq() && (other.Row.Kind == Genesis) == (op.Row.Kind == Genesis) {
			return true
		}
	}
	return false
}

// commit ends a transaction, unless the database refuses what a message does.
func (t *expansion) commit(i int, op *Statement) {
	if op.Row.Applied&(1<<t.from.Poison) != 0 {
		x, refused := t.on(Refuse, i)
		t.rules.condemn(x, refused)
		t.end(x, i, protocol.Data)
		return
	}
	x, _ := t.on(Commit, i)
	if t.rules.committed(x, op); x.Violation == "" {
		t.end(x, i, protocol.Acked)
	}
}

// committed appends a row to the chain, if the chain allows.
func (r *Rules) committed(x *Step, op *Statement) {
	s := &x.After
	switch {
	case op.seq() < s.N:
		x.violated("I1, I2: there was a row at seq %d before", op.seq())
	case op.seq() > s.N:
		x.violated("I1: a row at seq %d without a predecessor", op.seq())
	case op.Row.Kind != Genesis && s.Rows[op.Seq].Token != op.Pred:
		x.violated("I1: the row before is another one than the statement names")
	case op.Row.Kind != Genesis && s.Rows[op.Seq].Next != op.Prev:
		x.violated("I1: the row before ends at %d, this one starts at %d", s.Rows[op.Seq].Next, op.Prev)
	case op.Row.Kind != Genesis && s.Rows[op.Seq].Kind == Pause && op.Row.Kind != Operator && op.Row.Kind != Pause:
		x.violated("I17: a worker appends after a pause")
	case s.N == maxRows:
		x.violated("the chain grows without end")
	}
	if x.Violation != "" {
		return
	}
	r.covers(x, op)
	s.Stream = true
	s.Rows[s.N] = op.Row
	s.N++
}
