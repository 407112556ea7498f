package letters

// The records of the partition. All but the last one have the record key that parks.
const (
	byOffset = 0 // identified by its offset
	first    = 1 // identified by a key
	copied   = 2 // a copy of first: the same idempotency key
	apart    = 3 // another record key, whose letters park nothing
	records  = 4
)

// parks reports whether later records wait behind a letter of a record.
func parks(record int) bool { return record != apart }

// LetterState is the state of a letter, as idem_dead_letter has them.
type LetterState uint8

// The states of a letter.
const (
	None LetterState = iota
	Dead
	Waiting
	Replayed
	Discarded
)

// Database is what is committed.
type Database struct {
	Seq     uint8 // of the chain's last row
	Last    uint8 // who appended it: a worker, from 1
	Next    uint8 // position: the first record that was not passed
	Letter  [records]LetterState
	Asked   [records]LetterState // Replayed or Discarded; None is no request
	Applied [records]uint8       // how often a record took effect
	Claimed bool                 // the idempotency key of first and copied
}

// Parked is how many letters of the key that parks are open.
type Parked struct{ Dead, Waiting int8 }

// parked is what the table of letters says.
func (d *Database) parked() (p Parked) {
	for i, l := range d.Letter {
		if parks(i) {
			p.count(l, 1)
		}
	}
	return p
}

func (p *Parked) count(l LetterState, n int8) {
	switch l {
	case Dead:
		p.Dead += n
	case Waiting:
		p.Waiting += n
	}
}

// Phase is how far a worker is.
type Phase uint8

// The phases of a worker.
const (
	Idle     Phase = iota // it owns nothing
	Fenced                // its row is the last one, as far as it knows, and nothing is loaded
	Ready                 // it may pass records
	Settling              // it read a letter that is to be settled
	Doubt                 // it sent a transaction, and heard nothing
)

// Worker is one process, and what it has in memory.
type Worker struct {
	Phase  Phase
	Seq    uint8 // of the row that its memory belongs to
	Next   uint8
	Parked Parked
	// Of Settling: the letter as it was read, and what is to become of it.
	Letter   uint8
	From, To LetterState
	// Of Doubt: what its memory is once the transaction is known to have committed.
	AfterNext   uint8
	AfterParked Parked
}

// Fault is something that can go wrong.
type Fault uint8

// What can go wrong, or may never happen.
const (
	Crash   Fault = iota
	Move          // another worker becomes the owner, and the one before does not know
	Loss          // the answer to a transaction is lost
	Request       // a person asks for a replay or a discard
	Close         // the upkeep closes a letter whose time is over
	faults
)

// Faults is how often each thing can still happen.
type Faults [faults]uint8

// State is everything: it is compared as a whole.
type State struct {
	Database
	Workers [2]Worker
	Mended  bool // no record is refused any more
	Left    Faults
}
