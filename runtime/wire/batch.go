package wire

import "context"

// Batch is the work of one transaction, in order. Generated code adds to it; the
// runtime sends it. It is not safe for concurrent use.
type Batch struct {
	plan   Plan
	wave   wave
	steps  []Step
	claims []Claim
	mine   map[Key]int   // key -> index in claims
	prior  map[Key]Prior // keys that were claimed before this transaction
	def    int32
	args   [][]byte
	dirty  []*Rows // rows that were written since Reset
	out    Outcome
	dup    Key
	calls  bool
	event  string // of the record being added, once it is known
	stop   bool   // on_failure of the record being added: it must not become a dead letter
}

// Step is one statement over rows, or one handler call.
type Step struct {
	SQL  string
	Args [][]byte // binary, one per parameter
	Call *Call    // nil for a statement
}

// Call is one call of a handler.
type Call struct {
	Event   string // Go name of the event
	Key     Key    // zero if the event is identified by its offset
	Message *Message
	Policy  *FailurePolicy
	Fn      func(context.Context, Tx) error
}

// Claim is a key that the batch claims.
type Claim struct {
	Key   Key
	Print uint32 // fingerprint of the event's content
}

// Prior is a key claimed earlier: its fingerprint and the definition it was made under.
type Prior struct {
	Print uint32
	Def   int32
}

// Claim records the event's key. It returns false for a duplicate, of which the
// caller then adds nothing, and a [ConflictError] if the key is known with other content.
// Call it after everything that can refuse the event, before the first row.
func (b *Batch) Claim(event string, key Key, print uint32) (fresh bool, err error) {
	b.event = event
	known, dup := b.prior[key]
	if i, twice := b.mine[key]; twice {
		known, dup = Prior{Print: b.claims[i].Print, Def: b.def}, true
	}
	switch {
	case !dup:
		b.mine[key] = len(b.claims)
		b.claims = append(b.claims, Claim{key, print})
		return true, nil
	case known.Print != print && known.Def == b.def: // prints of two definitions cannot be compared
		return false, &ConflictError{Event: event, Key: key}
	}
	b.out, b.dup = Resent, key
	return false, nil
}

// Duplicate is the key of the last record whose outcome was [Resent].
func (b *Batch) Duplicate() Key { return b.dup }

// Ignore says that the record is passed over on purpose, as the spec says.
func (b *Batch) Ignore() { b.out = Ignored }

// StopOnFailure says what on_failure.give_up of the record's event is: stop, or (false)
// dead_letter. Generated code calls it first where the event differs from its topic.
func (b *Batch) StopOnFailure(stop bool) { b.stop = stop }

// StopsOnFailure reports what the last record's on_failure says.
func (b *Batch) StopsOnFailure() bool { return b.stop }

// Event is the Go name of the last record's event, or "" if it is identified by its offset.
func (b *Batch) Event() string { return b.event }

// Write queues one statement over rows, if there are any. Only Flush calls it.
func (b *Batch) Write(sql string, rows *Rows) {
	if rows.Len() == 0 {
		return
	}
	from := len(b.args)
	b.args = rows.Seal(b.args)
	b.dirty = append(b.dirty, rows)
	b.steps = append(b.steps, Step{SQL: sql, Args: b.args[from:len(b.args):len(b.args)]})
}

// Call queues a handler; what was collected so far is written before it, so that
// effects keep the order of the records.
func (b *Batch) Call(m *Message, c Call) {
	b.cut()
	b.calls = true
	c.Message = m
	b.steps = append(b.steps, Step{Call: &c})
}

// cut ends the wave: its rows become statements, and the plan's buffers start anew.
func (b *Batch) cut() {
	b.plan.Flush(b)
	b.wave.next()
}

// NewBatch returns a batch for plan. The runtime keeps one per partition.
func NewBatch(plan Plan) *Batch {
	b := &Batch{plan: plan, mine: map[Key]int{}}
	b.wave.init()
	return b
}

// Reset empties the batch. prior holds the keys of its records that were claimed before,
// def is the number of the key definitions now.
func (b *Batch) Reset(prior map[Key]Prior, def int32) {
	b.plan.Flush(b) // what an interrupted run left in the plan's buffers
	for _, r := range b.dirty {
		r.reset()
	}
	b.wave.clear()
	b.wave.event = 0
	clear(b.mine)
	b.steps, b.claims, b.args, b.dirty = b.steps[:0], b.claims[:0], b.args[:0], b.dirty[:0]
	b.prior, b.def, b.calls = prior, def, false
}

// Outcome is what became of one record.
type Outcome int

// What became of one record.
const (
	Applied Outcome = iota // its effect is part of the batch
	Resent                 // a known key with equal content: no effect
	Ignored                // passed over on purpose
)

// Add adds one record; stop is what its topic's on_failure says. After an error the batch is as it was, so the record can become a
// dead letter of the same transaction.
func (b *Batch) Add(m *Message, stop bool) (Outcome, error) {
	b.stop, b.event = stop, ""
	b.wave.begin()
	b.out = Applied
	err := b.plan.Add(b, m)
	return b.out, err
}

// Finish ends the last wave and returns all steps and claims in order, valid until Reset.
func (b *Batch) Finish() ([]Step, []Claim) {
	b.cut()
	return b.steps, b.claims
}

// Calls reports whether a step is a handler call.
func (b *Batch) Calls() bool { return b.calls }
