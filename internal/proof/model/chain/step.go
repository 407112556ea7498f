package chain

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/protocol"
)

// Act is what happens in one step.
type Act uint8

// The acts of workers, of the server, and of the world.
const (
	Assign      Act = iota // a partition is assigned
	Revoke                 // it is revoked or lost, or the process crashes
	SendGenesis            // stream and first row
	SendFence              // the tail was read, a fence is sent
	Send                   // a batch is sent
	ReadRow                // the row in the append's place is read
	PreRead                // the keys of a batch are read, and a row of the worker's own holds one
	Move                   // a worker takes a step of the table without sending anything
	LoadEarly              // a planted bug loads keys before the tail
	Start                  // a statement takes its snapshot and finds its predecessor
	Insert                 // its row enters the unique index
	Commit                 // its transaction commits, and whoever waits is told
	Refuse                 // it is refused, and whoever waits is told
	Kill                   // its backend is killed
	Lose                   // nobody waits any more: time-out, or the reply is lost
	Failover               // the primary is gone, and with it a suffix of the chain
	Retain                 // retention deletes a prefix of the chain
	Operate                // an operator appends a row
	Shorten                // a transaction under way leaves its last messages to the next one
	Stop                   // an operator pauses the partition
)

var actNames = [...]string{"assigned", "revoked", "sends a genesis", "reads the tail, sends a fence", "sends", "reads the row in its place", "finds its keys claimed by itself", "moves on",
	"loads keys", "started", "inserted", "committed", "refused", "backend killed", "nobody waits for it any more", "failover", "retention", "an operator's row", "ends early:", "a pause"}

// Step is one transition of the model.
type Step struct {
	Act    Act
	Worker int // who acts or whose statement it is; -1 nobody
	Event  protocol.Event
	From   uint8 // position that the statement names
	Row    Row   // of the statement
	Count  uint8 // Failover, Retain: rows that stay, rows that go; Refuse: the offset refused by name
	Fault  bool  // it takes from the bound; without such steps a worker must finish
	After  State
	// Violation says which invariant does not hold, "" if all do. Nothing follows then.
	Violation string
}

func (x *Step) violated(format string, args ...any) {
	if x.Violation == "" {
		x.Violation = fmt.Sprintf(format, args...)
	}
}

func (x *Step) String() string {
	who := "nobody's"
	if x.Worker >= 0 {
		who = fmt.Sprintf("worker %d", x.Worker)
	}
	switch x.Act {
	case Failover:
		return fmt.Sprintf("failover: %d rows are left", x.Count)
	case Retain:
		return fmt.Sprintf("retention: deleted %012b", x.After.Deleted)
	case Operate:
		return "an operator appends a row"
	case Stop:
		return "an operator pauses the partition"
	case Start, Insert, Commit, Kill, Lose, Send, SendFence, SendGenesis, Shorten:
		return fmt.Sprintf("%s: %s %s", who, actNames[x.Act], x.statement())
	case Refuse:
		return fmt.Sprintf("%s: %s refused: %v", who, x.statement(), x.Event)
	}
	return fmt.Sprintf("%s: %s (%v)", who, actNames[x.Act], x.Event)
}

func (x *Step) statement() string {
	switch x.Row.Kind {
	case Genesis:
		return "genesis"
	case Fence:
		return "fence"
	}
	return fmt.Sprintf("batch [%d,%d) applying %03b, dead %03b", x.From, x.Row.Next, x.Row.Applied, x.Row.Dead)
}

// expansion collects the steps that are possible in a state.
type expansion struct {
	rules *Rules
	from  *State
	steps []Step
}

// begin adds a step that leads to a copy of the state, to be changed by the caller.
func (t *expansion) begin(act Act, worker int) *Step {
	t.steps = append(t.steps, Step{Act: act, Worker: worker, After: *t.from})
	return &t.steps[len(t.steps)-1]
}

// fault begins a step that takes from the bound. It reports false if nothing is left.
func (t *expansion) fault(f Fault, act Act, worker int) (*Step, bool) {
	if t.from.Left[f] == 0 {
		return nil, false
	}
	x := t.begin(act, worker)
	x.Fault = true
	x.After.Left[f]--
	return x, true
}

// Steps are all steps that are possible in a state, those of the server first. buffer is
// reused.
func (r *Rules) Steps(s *State, buffer []Step) []Step {
	t := expansion{rules: r, from: s, steps: buffer[:0]}
	t.server()
	t.workers()
	if len(t.steps) == 0 {
		t.idle()
	}
	t.faults()
	for i := range t.steps {
		if x := &t.steps[i]; x.Violation == "" {
			r.check(x)
			r.canonical(&x.After)
		}
	}
	return t.steps
}
