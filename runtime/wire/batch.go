package wire

import "context"

// Batch is the work of one transaction, in order. Generated code adds to it; the
// runtime sends it. It is not safe for concurrent use.
type Batch struct {
	plan    Plan
	wave    wave
	steps   []Step
	claims  []Claim
	mine    map[Key]int // key -> index in claims
	known   Known       // keys that were claimed before this transaction
	former  []Key       // of the event that is about to be claimed
	keyless int         // events that count by their offset although their topic has keys
	def     int32
	args    [][]byte
	dirty   []*Rows // rows that were written since Reset
	out     Outcome
	dup     Key
	calls   bool
	event   string         // of the record being added, once it is known
	key     Key            // that identifies it, once it is known
	policy  *FailurePolicy // of the record being added
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
	Key     Key    // set by [Batch.Call]; zero if the event is identified by its offset
	Message *Message
	Policy  *FailurePolicy // set by [Batch.Call]
	Fn      func(context.Context, Tx) error
}

// Claim is a key that the batch claims.
type Claim struct {
	Key   Key
	Print uint32 // fingerprint of the event's content
	Here  bool   // copies: same_partition: the chain remembers the key, not idem_keys
}

// Prior is a key claimed earlier: its fingerprint and the definition it was made under.
type Prior struct {
	Print uint32
	Def   int32
}

// Known tells which keys were claimed before a transaction.
type Known interface {
	// Find looks a key up: where the chain of this partition remembers keys if here, else
	// where all partitions do.
	Find(key Key, here bool) (p Prior, ok bool)
}

// Also names a key that the event about to be claimed would have had under an earlier
// source of the spec: a copy that carries only that one is a duplicate, too. A zero key,
// which stands for a part that is missing, is passed over. Call it before Claim.
func (b *Batch) Also(key Key) {
	if key != (Key{}) {
		b.former = append(b.former, key)
	}
}

// Claim records the event's key, which all partitions remember. It returns false for a
// duplicate, of which the caller then adds nothing, and a [ConflictError] if the key is
// known with other content. What a duplicate carries of former keys and its own is recorded,
// too: its copies are one event by whichever of them they are known. An event with the zero key is identified by its former key, or
// counts by its offset if it has none. Call it after everything that can refuse the event,
// before the first row.
func (b *Batch) Claim(event string, key Key, print uint32) (fresh bool, err error) {
	return b.claim(event, key, print, false)
}

// ClaimHere is [Batch.Claim] for an event all copies of which come through this partition:
// its chain remembers the key.
func (b *Batch) ClaimHere(event string, key Key, print uint32) (fresh bool, err error) {
	return b.claim(event, key, print, true)
}

func (b *Batch) claim(event string, key Key, print uint32, here bool) (fresh bool, err error) {
	b.event = event
	keys := b.former
	if key != (Key{}) {
		keys = append(keys, key)
	}
	b.former = keys[:0]
	if len(keys) == 0 {
		b.keyless++
		return true, nil
	}
	b.key = keys[len(keys)-1]
	fresh = true
	unknown := keys[:0]
	for _, k := range keys {
		known, dup := b.find(k, here)
		switch {
		case !dup:
			unknown = append(unknown, k)
		case !fresh: // the first known key has said what the record is
		case known.Print != print && known.Def == b.def: // prints of two definitions cannot be compared
			return false, &ConflictError{Event: event, Key: k}
		default:
			b.out, b.dup, fresh = Resent, k, false
		}
	}
	for _, k := range unknown { // a duplicate's, too: a later copy may carry that key alone
		b.mine[k] = len(b.claims)
		b.claims = append(b.claims, Claim{k, print, here})
	}
	return fresh, nil
}

// find looks a key up in this batch and before it.
func (b *Batch) find(key Key, here bool) (Prior, bool) {
	if i, ok := b.mine[key]; ok {
		return Prior{Print: b.claims[i].Print, Def: b.def}, true
	}
	if b.known == nil {
		return Prior{}, false
	}
	return b.known.Find(key, here)
}

// Keyless is how many events of the batch have no key of their own, although their topic
// has one, and count by their offset (missing: offset).
func (b *Batch) Keyless() int { return b.keyless }

// Duplicate is the key of the last record whose outcome was [Resent].
func (b *Batch) Duplicate() Key { return b.dup }

// Ignore says that the record is passed over on purpose, as the spec says.
func (b *Batch) Ignore() { b.out = Ignored }

// OnFailure says what on_failure of the record's event is. Generated code calls it first
// where the event differs from its topic.
func (b *Batch) OnFailure(policy *FailurePolicy) { b.policy = policy }

// Failure is on_failure of the last record that was added.
func (b *Batch) Failure() *FailurePolicy { return b.policy }

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
	c.Message, c.Key, c.Policy = m, b.key, b.policy
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

// Reset empties the batch. known, which may be nil, tells which keys were claimed before;
// def is the number of the key definitions now.
func (b *Batch) Reset(known Known, def int32) {
	b.plan.Flush(b) // what an interrupted run left in the plan's buffers
	for _, r := range b.dirty {
		r.reset()
	}
	b.wave.clear()
	b.wave.event = 0
	clear(b.mine)
	b.steps, b.claims, b.args, b.dirty = b.steps[:0], b.claims[:0], b.args[:0], b.dirty[:0]
	b.known, b.def, b.calls, b.keyless = known, def, false, 0
}

// Outcome is what became of one record.
type Outcome int

// What became of one record.
const (
	Applied Outcome = iota // its effect is part of the batch
	Resent                 // a known key with equal content: no effect
	Ignored                // passed over on purpose
)

// Add adds one record; policy, which stays as it is, is on_failure of its topic. After an
// error the batch is as it was, so the record can become a dead letter of the same
// transaction.
func (b *Batch) Add(m *Message, policy *FailurePolicy) (Outcome, error) {
	b.policy, b.event, b.key, b.former = policy, "", Key{}, b.former[:0]
	b.wave.begin()
	if b.wave.records {
		b.cut()
	}
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
