package oracle

import "strings"

// Kind is what became of a record.
type Kind int

// What became of a record.
const (
	Applied    Kind = iota + 1 // it took effect, or every step was skipped as the spec permits
	Duplicate                  // its key has taken effect before, with the same content
	Conflict                   // its key has taken effect before with other content: a dead letter
	DeadLetter                 // refused; Class says why
	Ignored                    // passed over on purpose: listed under ignore, or under skip
	Stop                       // the partition waits for a person, from this record on
)

func (k Kind) String() string {
	switch k {
	case Applied:
		return "applied"
	case Duplicate:
		return "duplicate"
	case Conflict:
		return "conflict"
	case DeadLetter:
		return "dead letter"
	case Ignored:
		return "ignored"
	case Stop:
		return "stop"
	}
	return "unknown"
}

// The stable reason classes of dead letters.
const (
	ClassDecode    = "decode"       // payload, header or record key does not decode
	ClassKey       = "key"          // a part of the idempotency key is missing or empty, or its header unusable
	ClassFit       = "fit"          // a value does not fit its column
	ClassConflict  = "conflict"     // same key, other content
	ClassUnknown   = "unknown_type" // no event has this type
	ClassTombstone = "tombstone"    // no value, and the topic has no tombstone event
	ClassTooLarge  = "too_large"    // longer than max_payload
	ClassDatabase  = "database"     // refused by the database
	ClassParked    = "parked"       // it waits behind a dead letter of its record key
	ClassHandler   = "handler"      // the handler returned an error
	ClassEffect    = "effect"       // the effect failed, or its result cannot be read
	// ClassInterrupted: nobody knows what the effect did. The interpreter makes no calls: who
	// gives it records says so.
	ClassInterrupted = "interrupted"
)

// Outcome is what became of one record.
//
// Path names the place of a decode, key or fit error: member names of the payload
// joined by dots with list positions from 0 ("items[1].price"), "header NAME", "record
// key" with the part's path after a dot if the key is a JSON object, or "record NAME" for
// record metadata. It is empty for the whole payload, for a default and for a constant.
type Outcome struct {
	Kind    Kind
	Class   string // of a dead letter, conflict or stop; else empty
	Path    string
	Detail  string // why, for people; not stable and without payload data
	Type    string // of ClassUnknown: the type that no event has
	Refused bool   // the database would refuse it, so a batch that holds it is split
	Event   string // Go name of the event; empty if the record has none
	Key     string // printable identity of the idempotency key; empty for offset keys
}

// DeadLetter says what kind of dead letter the record becomes: its class, and the place if that is
// known; "" if it becomes none.
func (o Outcome) DeadLetter() string {
	switch {
	case o.Kind != DeadLetter && o.Kind != Conflict:
		return ""
	case o.Path != "":
		return o.Class + " " + o.Path
	case o.Class == ClassDecode:
		return o.Class + " the payload"
	}
	return o.Class
}

// fault is why a record does not take effect.
type fault struct {
	class   string
	path    string
	detail  string
	unknown string // the type that no event has
	at      int    // position in the record by which the first fault is found; see place
}

func (f *fault) Error() string {
	if f.path == "" {
		return f.class + ": " + f.detail
	}
	return f.class + ": " + f.path + ": " + f.detail
}

// first returns the fault that a reader from front to back meets first; in a map, that of the map
// before one of a member of it which another field reads.
func first(faults []*fault) *fault {
	var least *fault
	for _, f := range faults {
		if f != nil && (least == nil || f.at < least.at || f.at == least.at && f.path != least.path && strings.HasPrefix(least.path, f.path)) {
			least = f
		}
	}
	return least
}
