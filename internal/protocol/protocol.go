// Package protocol is what a partition's worker does next, as a table without I/O: in which
// state it is, what happened, and what becomes of its memory. A partition in package engine and
// the model in internal/proof/model/chain take every step by [Next]: the model explores the table
// that runs. docs/protocol.md draws it.
//
// It must not import any other package of this module.
package protocol

// State is what a worker is doing.
type State uint8

// The states of a worker.
const (
	Off     State = iota // the partition is not assigned
	Fencing              // the tail is read, a fence is appended
	Ready                // the memory is that of the tail; records are accepted
	Sent                 // an append is under way, the only one
	Doubt                // an append was sent, and whether it committed is open
	Standby              // another worker appended: the tail is read now and then, nothing is written
	Backoff              // the database lacks a resource: nothing is sent for a while
	Halted               // a person must act
)

var stateNames = [...]string{"OFF", "FENCING", "READY", "SENT", "DOUBT", "STANDBY", "BACKOFF", "HALTED"}

func (s State) String() string { return stateNames[s] }

// Event is what happened to a worker.
type Event uint8

// The events. Those from Acked to Fatal are outcomes of an append. Package verdict says which of
// them an error of the database is; whether a row in the append's place is Own or Foreign is known
// only once it is read. Package engine does not take the step for KeyRace: it decides and sends
// again without leaving Sent, and a race that is lost too often is a Conflict.
const (
	Assigned  Event = iota // the partition was assigned
	Revoked                // the partition was revoked or lost, or the process ends
	Refused                // tail, broker and spec contradict each other, or the spec says stop
	Due                    // a batch, a half of one, or the same batch again is sent
	Connected              // there is a connection again
	Acked                  // ReadyForQuery without an error and, for an explicit transaction, the tag COMMIT
	Own                    // the row in the append's place is of an earlier attempt of this worker
	Foreign                // the row there is another's, or there was one and it is gone
	Gone                   // the row to append to is gone or another one
	Unknown                // no answer: committed or not
	KeyRace                // another worker claimed a key first, or its generation is sealed
	Conflict               // deadlock, serialization, lock wait, time-out: the same again
	Data                   // a record was refused
	Resource               // disk, memory, connections
	Fatal                  // schema, rights, corruption, anything unknown
	Rested                 // the pause is over
	Quiet                  // the tail has not moved for long, and a record waits behind it
	Operator               // an operator appended to the chain
	Awaits                 // nothing was sent: the first record waits for its effect, or a dead letter stays one
	Bug                    // the runtime panicked, or something happened that the table has no step for
)

var eventNames = [...]string{"assigned", "revoked", "refused", "due", "connected", "acked", "own", "foreign", "gone", "unknown",
	"key race", "conflict", "data", "resource", "fatal", "rested", "quiet", "operator", "awaits", "bug"}

func (e Event) String() string { return eventNames[e] }

// Memory is what becomes of all that a worker knows: position, tail, keys, attempts.
type Memory uint8

// What becomes of the memory.
const (
	Keep    Memory = iota // it stays, and so do the attempts whose fate is open
	Forward               // by the content of the attempt that was acknowledged
	Adopt                 // by the content of the attempt whose row was found
	Load                  // built from the chain up to the worker's own fence
	Discard               // nothing of it may be used again
)

type step struct {
	next   State
	memory Memory
}

// table holds every step that exists but those from everywhere: Revoked leads to Off, and Bug
// to Halted.
var table = map[State]map[Event]step{
	Off: {
		Assigned: {Fencing, Discard},
	},
	Fencing: {
		Acked:    {Ready, Load},
		Own:      {Fencing, Discard}, // the reply to a fence was lost: read the tail and append another
		Foreign:  {Fencing, Discard},
		Gone:     {Fencing, Discard},
		Unknown:  {Fencing, Discard},
		Conflict: {Fencing, Discard},
		Resource: {Fencing, Discard},
		Refused:  {Halted, Discard},
		Fatal:    {Halted, Discard},
	},
	Ready: {
		Due:     {Sent, Keep},
		Refused: {Halted, Discard},
		// A worker without records reads the tail now and then. Otherwise it would not learn of
		// an operator, nor of a failover that took back what it applied.
		Foreign: {Standby, Discard},
		Gone:    {Fencing, Discard},
	},
	Sent: {
		Acked:    {Ready, Forward},
		Own:      {Ready, Adopt},
		Foreign:  {Standby, Discard},
		Gone:     {Fencing, Discard},
		Unknown:  {Doubt, Keep},
		KeyRace:  {Sent, Keep},
		Conflict: {Ready, Keep},
		Data:     {Ready, Keep},
		Awaits:   {Ready, Keep},
		Resource: {Backoff, Keep},
		Refused:  {Halted, Discard},
		Fatal:    {Halted, Discard},
	},
	Doubt: {
		Connected: {Sent, Keep},      // appended again at the same seq: the row there is the truth
		Fatal:     {Halted, Discard}, // there is no connecting again; the next fence settles it
	},
	Standby: {
		Quiet:    {Fencing, Discard},
		Operator: {Fencing, Discard},
	},
	Backoff: {
		Rested: {Ready, Keep},
	},
	Halted: {
		Operator: {Fencing, Discard},
	},
}

// Next is the step that a worker in s takes when e happens. It reports false if there is
// none, which is a mistake of the caller.
func Next(s State, e Event) (next State, m Memory, ok bool) {
	switch e {
	case Revoked:
		return Off, Discard, true
	case Bug:
		return Halted, Discard, true
	}
	t, ok := table[s][e]
	return t.next, t.memory, ok
}
