package chain

import "github.com/idemgen/idemgen/internal/protocol"

// The size of the model. Growing past a limit is a violation, or a panic: no state is cut
// off silently.
const (
	Messages    = 3  // offsets 0, 1, 2
	maxRows     = 12 // of the chain
	maxOps      = 6  // statements under way
	maxAttempts = 6  // appends of one worker whose fate is open
	nobody      = 0  // where a worker is meant, by its number plus one
)

// keyOf is the idempotency key of each offset: the third message is a copy of the first.
var keyOf = [Messages]uint8{0, 1, 0}

// set is a set of offsets or of keys, one bit each.
type set = uint8

// Kind is the kind of a chain's row.
type Kind uint8

// The kinds of rows.
const (
	Genesis Kind = iota
	Fence
	Batch
	Operator
	Pause
)

// Row is a row of the chain and what was committed with it.
type Row struct {
	Kind    Kind
	Token   uint8 // every state has its own numbers for tokens: only equality says something
	Next    uint8
	Applied set // offsets that took effect in its transaction
	Dead    set // offsets that became dead letters in it
	// By is the worker plus one whose present memory sent it, of batches behind that
	// worker's tail. The protocol does not know it; an invariant does.
	By uint8
}

// Stage is how far a statement is in the server.
type Stage uint8

// The stages of a statement.
const (
	None     Stage = iota
	OnTheWay       // sent
	Started        // its snapshot showed the predecessor
	Inserted       // its row is in the unique index: others at its seq wait
)

// Statement is an append under way, with the whole transaction that it begins.
type Statement struct {
	Stage Stage
	Wait  uint8 // worker plus one that waits for the reply
	Seq   uint8 // of the predecessor it names; its own is one more, or 0 for a genesis
	Pred  uint8 // the predecessor's token
	Prev  uint8 // the predecessor's position
	Row   Row
}

// seq is where the row shall stand.
func (op *Statement) seq() uint8 {
	if op.Row.Kind == Genesis {
		return 0
	}
	return op.Seq + 1
}

// Attempt is what a worker knows of an append whose fate is open.
type Attempt struct {
	Token, Next   uint8
	Applied, Dead set
}

// Worker is one worker of the partition.
type Worker struct {
	State protocol.State
	// The memory: all zero unless Loaded.
	Loaded   bool
	Seq      uint8 // of the tail
	Token    uint8
	Next     uint8
	Keys     set // of messages still to come, those that were applied
	Attempts [maxAttempts]Attempt
	Failing  uint8 // messages from Next on that were refused together
	Refused  set   // offsets that must become dead letters
	// ReadRow: a row was found in the append's place, and is read next.
	ReadRow bool
}

// State is everything there is.
type State struct {
	Stream  bool // the stream's row exists
	N       uint8
	Rows    [maxRows]Row
	Deleted uint16 // bit per row that retention took
	// Retained is how many rows there were when retention ran: a failover to fewer undoes it.
	Retained uint8
	// Loose are offsets whose effect or dead letter was committed without a row: of planted
	// bugs only.
	Loose   set
	Ops     [maxOps]Statement
	Workers [2]Worker
	Poison  uint8 // the offset that the database refuses; Messages = none
	Left    Faults
	tokens  uint8 // names in use
}

// visible reports whether a row stands at seq.
func (s *State) visible(seq uint8) bool {
	return seq < s.N && s.Deleted&(1<<seq) == 0
}

// tail is the visible row with the highest seq.
func (s *State) tail() (seq uint8, ok bool) {
	for i := int(s.N) - 1; i >= 0; i-- {
		if s.visible(uint8(i)) {
			return uint8(i), true
		}
	}
	return 0, false
}

// Position is the first offset that the chain does not cover.
func (s *State) Position() uint8 {
	if s.N == 0 {
		return 0
	}
	return s.Rows[s.N-1].Next
}

// applied are the offsets that took effect.
func (s *State) applied() (all set) {
	for i := range s.N {
		all |= s.Rows[i].Applied
	}
	return all
}

func keys(offsets set) (all set) {
	for o := range Messages {
		if offsets&(1<<o) != 0 {
			all |= 1 << keyOf[o]
		}
	}
	return all
}

// toCome are the keys of messages from an offset on: others need not be kept.
func toCome(next uint8) set { return keys(0xff << next) }

// waits reports whether a worker waits for a reply.
func (s *State) waits(worker int) bool {
	for i := range s.Ops {
		if s.Ops[i].Stage != None && s.Ops[i].Wait == uint8(worker+1) {
			return true
		}
	}
	return false
}

// name is a token that was never used.
func (s *State) name() uint8 {
	s.tokens++
	return s.tokens
}
