package chain

import (
	"cmp"
	"slices"
)

// canonical gives states that differ in nothing but names one form: statements are sorted,
// what can no longer be found is forgotten, tokens are numbered by their first occurrence.
func (r *Rules) canonical(s *State) {
	slices.SortStableFunc(s.Ops[:], compareStatements)
	for i := range s.Workers {
		w := &s.Workers[i]
		if r.Bug != AdoptsLatest {
			s.forgetAttempts(w)
		}
		for n := range min(w.Seq+1, s.N) { // whose a row was is of no interest once its worker passed it
			if s.Rows[n].By == uint8(i+1) {
				s.Rows[n].By = nobody
			}
		}
	}
	s.shorten()
	var names [64]uint8
	s.tokens = 0
	rename := func(token *uint8) {
		if *token == 0 {
			return
		}
		if names[*token] == 0 {
			s.tokens++
			names[*token] = s.tokens
		}
		*token = names[*token]
	}
	for i := range s.N {
		rename(&s.Rows[i].Token)
	}
	for i := range s.Ops {
		rename(&s.Ops[i].Row.Token)
		rename(&s.Ops[i].Pred)
	}
	for i := range s.Workers {
		w := &s.Workers[i]
		rename(&w.Token)
		for j := range w.Attempts {
			rename(&w.Attempts[j].Token)
		}
	}
}

// compareStatements orders by everything but names; free places come last.
func compareStatements(a, b Statement) int {
	return cmp.Compare(rank(&a), rank(&b))
}

func rank(op *Statement) uint64 {
	if op.Stage == None {
		return 1 << 63
	}
	r := &op.Row
	n := uint64(0)
	for _, v := range []uint8{op.Wait, uint8(op.Stage), op.Seq, op.Prev, uint8(r.Kind), r.Next, r.Applied | r.Dead<<Messages, r.By} {
		n = n<<6 | uint64(v)
	}
	return n
}

// forgetAttempts drops attempts that are neither in the chain nor under way: no row will ever bear
// their token.
func (s *State) forgetAttempts(w *Worker) {
	kept := 0
	for _, a := range w.Attempts {
		if a.Token != 0 && s.bears(a.Token) {
			w.Attempts[kept] = a
			kept++
		}
	}
	clear(w.Attempts[kept:])
}

// bears reports whether a row, or one under way, bears a token.
func (s *State) bears(token uint8) bool {
	for i := range s.N {
		if s.Rows[i].Token == token {
			return true
		}
	}
	for i := range s.Ops {
		if s.Ops[i].Stage != None && s.Ops[i].Row.Token == token {
			return true
		}
	}
	return false
}

// shorten merges the beginning of the chain into the oldest row that anybody still names,
// when no failover or retention can come that would tell its rows apart.
func (s *State) shorten() {
	if s.N == 0 || s.Left[Failovers] > 0 || s.Left[Retentions] > 0 || s.Deleted != 0 {
		return
	}
	low := s.N - 1
	for i := range s.Ops {
		if op := &s.Ops[i]; op.Stage != None && op.Row.Kind != Genesis {
			low = min(low, op.Seq)
		}
	}
	for i := range s.Workers {
		if w := &s.Workers[i]; hasMemory(w.State) {
			low = min(low, w.Seq)
		}
	}
	for i := range low {
		s.Rows[low].Applied |= s.Rows[i].Applied
		s.Rows[low].Dead |= s.Rows[i].Dead
	}
	for o := range uint8(Messages) { // what no message to come is a copy of
		if toCome(s.Rows[low].Next)&(1<<keyOf[o]) == 0 {
			s.Rows[low].Applied &^= 1 << o
			s.Rows[low].Dead &^= 1 << o
		}
	}
	copy(s.Rows[:], s.Rows[low:s.N])
	clear(s.Rows[s.N-low:])
	s.N -= low
	s.Retained = 0
	for i := range s.Ops {
		if op := &s.Ops[i]; op.Stage != None && op.Row.Kind != Genesis {
			op.Seq -= low
		}
	}
	for i := range s.Workers {
		if w := &s.Workers[i]; hasMemory(w.State) {
			w.Seq -= low
		}
	}
}
