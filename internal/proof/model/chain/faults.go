package chain

import "github.com/idemgen/idemgen/internal/protocol"

// Fault is a kind of thing that goes wrong, or happens to a partition, only so often.
type Fault uint8

// The faults.
const (
	Assignments Fault = iota // a partition is assigned, again or to the other worker
	Losses                   // time-out, lost reply, broken connection
	Kills                    // of a backend
	Failovers
	Refusals   // a handler refuses a message for good
	Troubles   // conflicts, key races, missing resources, fatal errors
	Suspicions // STANDBY takes over although the other one lives
	Retentions
	Operators   // an operator appends a row
	Pauses      // one pauses the partition
	Shortenings // a transaction ends early, with some of its messages
	faultKinds

	faultBits = 3
)

// Faults says how often each may happen.
type Faults [faultKinds]uint8

func (t *expansion) faults() {
	for i := range t.from.Ops {
		if t.from.Ops[i].Stage != None {
			t.statementFaults(i)
		}
	}
	for i := range t.from.Workers {
		t.workerFaults(i)
	}
	t.failovers()
	t.retentions()
	if _, chain := t.from.tail(); chain && !t.inserted() {
		if x, ok := t.fault(Operators, Operate, -1); ok {
			t.operate(x, Operator)
		}
		if x, ok := t.fault(Pauses, Stop, -1); ok {
			t.operate(x, Pause)
		}
	}
}

// inserted reports whether a statement is in the unique index: an operator would wait.
func (t *expansion) inserted() bool {
	for i := range t.from.Ops {
		if t.from.Ops[i].Stage == Inserted {
			return true
		}
	}
	return false
}

func (t *expansion) statementFaults(i int) {
	op := &t.from.Ops[i]
	about := func(x *Step) { x.From, x.Row = op.Prev, op.Row }
	worker := int(op.Wait) - 1
	if x, ok := t.fault(Kills, Kill, worker); ok {
		about(x)
		t.end(x, i, protocol.Unknown)
	}
	if op.Wait == nobody {
		return
	}
	t.shortenings(i, op)
	if x, ok := t.fault(Losses, Lose, worker); ok {
		about(x)
		x.Event = protocol.Unknown
		x.After.Ops[i].Wait = nobody
		t.rules.reply(x, op, protocol.Unknown)
	}
	for _, e := range []protocol.Event{protocol.Conflict, protocol.Resource, protocol.Fatal, protocol.KeyRace} {
		if e == protocol.KeyRace && op.Row.Applied == 0 {
			continue
		}
		if x, ok := t.fault(Troubles, Refuse, worker); ok {
			about(x)
			t.end(x, i, e)
		}
	}
	for o := range uint8(Messages) {
		if op.Stage != Inserted || op.Row.Applied&(1<<o) == 0 {
			continue
		}
		if x, ok := t.fault(Refusals, Refuse, worker); ok {
			about(x)
			x.Count = o
			x.After.Workers[worker].Refused |= 1 << o
			t.end(x, i, protocol.Data)
		}
	}
}

// shortenings have a transaction under way end early. Its row gets another end, and the
// token of an attempt of its own, which the worker keeps before it may commit.
func (t *expansion) shortenings(i int, op *Statement) {
	if op.Stage != Inserted || op.Row.Kind != Batch {
		return
	}
	worker := int(op.Wait) - 1
	for end := op.Prev + 1; end < op.Row.Next; end++ {
		x, ok := t.fault(Shortenings, Shorten, worker)
		if !ok {
			return
		}
		w, row := &x.After.Workers[worker], &x.After.Ops[i].Row
		a := t.rules.build(w, end)
		if a.Token = x.After.name(); t.rules.Bug == ShortenedUnderTheSameToken {
			a.Token = row.Token
		}
		if t.rules.Bug != ShortenedUnremembered {
			w.addAttempt(a)
		}
		row.Token, row.Next, row.Applied, row.Dead = a.Token, a.Next, a.Applied, a.Dead
		x.From, x.Row = op.Prev, *row
	}
}

func (t *expansion) workerFaults(i int) {
	w := &t.from.Workers[i]
	if w.State == protocol.Off {
		if x, ok := t.fault(Assignments, Assign, i); ok {
			x.Event = protocol.Assigned
			t.rules.happen(x, i, x.Event, Attempt{})
		}
		return
	}
	x := t.begin(Revoke, i) // any number of times: assignments are bounded
	x.Fault, x.Event = true, protocol.Revoked
	t.rules.happen(x, i, x.Event, Attempt{})
	if w.ReadRow {
		if x, ok := t.fault(Losses, Lose, i); ok {
			x.Event, x.After.Workers[i].ReadRow = protocol.Unknown, false
			t.rules.happen(x, i, x.Event, Attempt{})
		}
	}
	if w.State == protocol.Doubt { // there is no connecting again
		if x, ok := t.fault(Troubles, Move, i); ok {
			x.Event = protocol.Fatal
			t.rules.happen(x, i, x.Event, Attempt{})
		}
	}
	if _, _, quiet := t.rules.Next(w.State, protocol.Quiet); quiet {
		if x, ok := t.fault(Suspicions, Move, i); ok {
			x.Event = protocol.Quiet
			t.rules.happen(x, i, x.Event, Attempt{})
		}
	}
}

// failovers cut any suffix of the chain. Every statement under way dies with its primary.
func (t *expansion) failovers() {
	for left := range t.from.N + 1 {
		x, ok := t.fault(Failovers, Failover, -1)
		if !ok {
			return
		}
		t.cut(x, left)
		if t.from.Deleted != 0 && left == t.from.Retained { // retention may have been cut off, too
			x, _ := t.fault(Failovers, Failover, -1)
			x.After.Retained = left + 1
			t.cut(x, left)
		}
	}
}

func (t *expansion) cut(x *Step, left uint8) {
	s := &x.After
	x.Count = left
	clear(s.Rows[left:])
	s.N, s.Stream, s.Loose = left, left > 0, 0
	if left < s.Retained {
		s.Deleted, s.Retained = 0, 0
	}
	s.Deleted &= 1<<left - 1
	for i := range s.Ops {
		if s.Ops[i].Stage != None {
			t.end(x, i, protocol.Unknown)
		}
	}
	for i := range s.Workers {
		if w := &s.Workers[i]; w.ReadRow {
			w.ReadRow = false
			t.rules.happen(x, i, protocol.Unknown, Attempt{})
		}
	}
}

// retentions delete any prefix of the chain but its tail, whose keys have no copy to come.
// A row stays while a statement runs that would find its place free: one that began before
// the row was committed.
func (t *expansion) retentions() {
	tail, ok := t.from.tail()
	if !ok || t.from.Left[Retentions] == 0 {
		return
	}
	switch t.rules.Bug {
	case TailRetained, SecondGenesis:
		if keys(t.from.applied())&toCome(t.from.Position()) == 0 && !t.runsBelow(t.from.N) {
			t.retain(1<<t.from.N - 1)
		}
		return
	case FencesRetained:
		for n := range tail {
			if t.from.Rows[n].Kind == Fence && t.from.visible(n) && !t.runsBelow(n+1) {
				t.retain(1 << n)
			}
		}
		return
	}
	for end := uint8(1); end <= tail; end++ {
		row := &t.from.Rows[end-1]
		if keys(row.Applied)&toCome(t.from.Position()) != 0 {
			return
		}
		if t.from.visible(end-1) && (t.rules.Bug == RunningStatementsForgotten || !t.runsBelow(end)) {
			t.retain(1<<end - 1)
		}
	}
}

// runsBelow reports whether a statement that has taken its snapshot would insert below end.
func (t *expansion) runsBelow(end uint8) bool {
	for i := range t.from.Ops {
		if op := &t.from.Ops[i]; op.Stage == Started && op.Row.Kind != Genesis && op.seq() < end {
			return true
		}
	}
	return false
}

func (t *expansion) retain(rows uint16) {
	if x, ok := t.fault(Retentions, Retain, -1); ok {
		x.After.Deleted |= rows
		x.After.Retained = x.After.N
	}
}

// operate appends an operator's row, or makes the stream if there is none.
func (t *expansion) operate(x *Step, kind Kind) {
	s := &x.After
	tail, chain := s.tail()
	switch {
	case chain:
		next := s.Rows[tail].Next
		t.rules.committed(x, &Statement{Seq: tail, Prev: next, Pred: s.Rows[tail].Token, Row: Row{Kind: kind, Token: s.name(), Next: next}})
	case !s.Stream:
		t.rules.committed(x, &Statement{Row: Row{Kind: Genesis, Token: s.name()}})
	}
}
