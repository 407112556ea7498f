package effects

// LeaseState is the state of a lease, as package lease has them.
type LeaseState uint8

// The states of a lease.
const (
	None LeaseState = iota
	Processing
	Done
	Completed
	Failed
	Interrupted
)

// Lease is a row of the store. Results have the number of the call that returned them.
type Lease struct {
	State  LeaseState
	Token  uint8
	Result uint8 // 0 is none
	Over   bool  // of Processing: its time is over
}

// How is what became of a record.
type How uint8

// What can become of a record.
const (
	Waiting How = iota
	Applied
	Duplicate
	Dead
	Unfit // it is a dead letter since the result cannot be read, or its rows are refused
)

// Record is the event on a partition. There are two: see [Rules].
type Record struct {
	Owner  uint8 // a worker, from 1; 0 is nobody
	How    How
	Result uint8 // of Applied: the one that its rows hold; of Unfit: the one that its dead letter keeps
	Asked  bool  // of Dead and Unfit: it is replayed
}

// open reports whether a worker has something to do for a record.
func (r *Record) open() bool { return r.How == Waiting || r.Asked }

// Phase is how far a worker is with a record.
type Phase uint8

// The phases of a worker.
const (
	Idle      Phase = iota
	Owning          // it has the record, and must ask for the lease
	Asked           // it asked, and does not know the answer
	Holding         // it has the lease, and calls
	Answered        // the call returned a result
	Refused         // the call did nothing
	Unknown         // nobody knows what the call did
	Recording       // it recorded a result, and does not know the answer
	Recorded        // it has a result of the store
	Rejecting       // the record must become a dead letter
)

// Worker is one process.
type Worker struct {
	Phase  Phase
	Record uint8 // index
	Token  uint8
	Result uint8
	Kept   uint8 // the result that the dead letter that it replays keeps
}

// Fault is something that can go wrong.
type Fault uint8

// What can go wrong.
const (
	Crash   Fault = iota
	Pause         // a living holder does not extend its lease in time
	Move          // a partition gets another owner
	Loss          // an answer of the store is lost
	Refusal       // a call does nothing
	Doubt         // a call ends, and nobody knows what it did
	Flush         // the store loses what it holds
	Person        // decides about an interrupted effect
	Misfit        // a result cannot be read, or the rows that it leads to are refused
	Replay        // of a dead letter
	Topic         // the topic is made again
	faults
)

// Faults is how often each thing can still go wrong.
type Faults [faults]uint8

// State is everything: it is compared as a whole.
type State struct {
	Leases  [2]Lease // one for each event
	Drawn   uint8    // the last token
	Records [2]Record
	Workers [2]Worker
	Calls   [2]uint8 // of an event, that did something
	// Excused are the calls that may come beside the first one: one for each call that was cut
	// off while it ran, or that a person asked for.
	// Under dead_letter only a person's count.
	Excused [2]uint8
	Claimed bool // the ledger has the key
	Flushed bool // the store lost its data
	Again   bool // the topic was made again
	Left    Faults
}

// there reports whether a record can be read: the first one goes with its topic.
func (s *State) there(n int) bool { return n > 0 || !s.Again }

// owns reports whether a worker may pass its record.
func (s *State) owns(i int) bool {
	n := s.Workers[i].Record
	r := &s.Records[n]
	return int(r.Owner) == i+1 && r.open() && s.there(int(n))
}

// holds reports whether a living worker has a lease, so that its heart beats.
func (s *State) holds(l *Lease, i int) bool {
	w := &s.Workers[i]
	calls := w.Phase == Asked || w.Phase == Holding || w.Phase == Answered || w.Phase == Refused || w.Phase == Unknown
	return calls && l.State == Processing && l.Token == w.Token
}

// inFlight reports whether a worker makes a call whose end is not recorded.
func (s *State) inFlight(i int) bool {
	p := s.Workers[i].Phase
	return p == Asked || p == Holding || p == Answered || p == Unknown
}
