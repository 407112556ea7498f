package chain

import "github.com/idemgen/idemgen/internal/protocol"

// Bug is a mistake planted into the model.
type Bug uint8

// The planted bugs; [Mutants] gives their numbers and says what they do.
const (
	NoBug Bug = iota
	NoPredecessor
	PredecessorWithoutToken
	TokenPerWorker
	AdoptsLatest
	TailBearsMyToken
	DoubtByReading
	ConflictIgnored
	EffectOutside
	LetterOutside
	AcknowledgedEarly
	KeysEarly
	MemoryOutlivesRevoke
	MemoryKeptWhenFenced
	NoFence
	NoUniqueIndex
	TailRetained
	SecondGenesis
	FencesRetained
	RunningStatementsForgotten
	LetterClaims
	TwoAppends
	GenesisWithoutStream
	ShortenedUnderTheSameToken
	ShortenedUnremembered
	PauseIgnored
)

// Rules are what the model runs by.
type Rules struct {
	// Next is the worker's table of transitions.
	Next func(protocol.State, protocol.Event) (protocol.State, protocol.Memory, bool)
	Bug  Bug
}

// Protocol is the protocol as it is.
func Protocol() *Rules { return &Rules{Next: protocol.Next} }

// What follows is what planted bugs do in place of the protocol.

func (s *State) tailBears(token uint8) bool {
	tail, ok := s.tail()
	return ok && s.Rows[tail].Token == token
}

// rereadTail is bug 13.
func (s *State) rereadTail(w *Worker) {
	if tail, ok := s.tail(); ok {
		w.State, w.Seq, w.Token, w.Next = protocol.Ready, tail, s.Rows[tail].Token, s.Rows[tail].Next
		w.Keys &= toCome(w.Next)
		w.Attempts = [maxAttempts]Attempt{}
	}
}

// readInDoubt is bug 6.
func (t *expansion) readInDoubt(i int) {
	x := t.begin(ReadRow, i)
	w := &x.After.Workers[i]
	x.Event = protocol.Connected
	if x.After.visible(w.Seq + 1) {
		t.rules.happen(x, i, protocol.Connected, Attempt{})
		w.ReadRow = true
		return
	}
	w.State, w.Attempts = protocol.Ready, [maxAttempts]Attempt{}
}

// takeOverUnfenced is bug 14: keys in one step, the tail in another.
func (t *expansion) takeOverUnfenced(i int) {
	tail, _ := t.from.tail()
	if w := &t.from.Workers[i]; !w.ReadRow {
		x := t.begin(LoadEarly, i)
		x.After.Workers[i].ReadRow = true
		x.After.Workers[i].Keys = t.from.known(t.rules, tail)
		return
	}
	x := t.begin(Move, i)
	x.Event = protocol.Acked
	w := &x.After.Workers[i]
	known := w.Keys
	t.rules.happen(x, i, protocol.Acked, Attempt{Token: t.from.Rows[tail].Token})
	w.Keys = known & toCome(w.Next)
}

// restart is bug 22: the chain is empty again, what it said is forgotten, its effects stay.
func (x *Step) restart() {
	s := &x.After
	if s.Position() > 0 {
		x.violated("I1, I12: a second genesis: offsets below %d are applied again", s.Position())
	}
}
