package wire

import (
	"context"
	"crypto/sha256"
	"fmt"
)

// Batch is the work of one transaction, in order. Generated code adds to it, and the runtime sends
// it. It is not safe for concurrent use.
type Batch struct {
	plan   Plan
	wave   wave
	steps  []Step
	keys   keys
	args   [][]byte
	dirty  []*Rows   // rows that were written since Reset
	listed *[]string // texts of statements, of a batch that only lists them
	record record
	origin string // consumer and topic id of the records
	effects
	results map[int64]EffectResult // of records' effects, by offset
	buffers
}

// record is what is known about the record that is being added.
type record struct {
	outcome Outcome
	event   string // once it is known
	key     Key    // that identifies it, once it is known
	content uint32 // definition of its content
	print   uint32 // fingerprint of it
	policy  *FailurePolicy
	before  taken
	ids     EventIDs
}

// buffers are reused by every event of the batch.
type buffers struct {
	builder KeyBuilder
	print   Fingerprint
	fit     Fit
}

// Stage is the kind of a step. The runtime has one place that runs each kind.
type Stage uint8

// The stages.
const (
	Statement Stage = iota // a statement over rows: SQL and Args
	GoCall                 // a call of a handler: Call
)

// Step is one stage of a transaction, in the order of its records.
type Step struct {
	Stage Stage
	SQL   string
	Args  [][]byte // binary, one per parameter
	Call  *Call
}

// Call is one call of a handler.
type Call struct {
	Event   string // Go name of the event
	Key     Key    // set by [Batch.Call]; zero if the event is identified by its offset
	Message *Message
	Policy  *FailurePolicy // set by [Batch.Call]
	Fn      func(context.Context, Tx) error
	origin  string // set by [Batch.Call]: consumer and topic id
}

// Ignore marks the record as skipped on purpose, as the spec says.
func (b *Batch) Ignore() { b.record.outcome = Ignored }

// Failure returns on_failure of the last record that was added.
func (b *Batch) Failure() *FailurePolicy { return b.record.policy }

// Event returns the Go name of the last record's event, or "" if the record is not an event of the
// spec.
func (b *Batch) Event() string { return b.record.event }

// Write queues one statement over rows, unless there are none. Only Flush calls it.
func (b *Batch) Write(sql string, rows *Rows) {
	if b.listed != nil {
		*b.listed = append(*b.listed, sql)
		return
	}
	if rows.Len() == 0 {
		return
	}
	from := len(b.args)
	b.args = rows.Seal(b.args)
	b.dirty = append(b.dirty, rows)
	b.steps = append(b.steps, Step{Stage: Statement, SQL: sql, Args: b.args[from:len(b.args):len(b.args)]})
}

// Call queues a call of a handler. The rows collected so far are written before it, so effects
// keep the order of the records.
func (b *Batch) Call(m *Message, c Call) {
	b.endWave()
	c.Message, c.Key, c.Policy, c.origin = m.kept(), b.record.key, b.record.policy, b.origin
	b.steps = append(b.steps, Step{Stage: GoCall, Call: &c})
}

// endWave ends the wave: its rows become statements, and the plan's buffers are empty again.
func (b *Batch) endWave() {
	b.plan.Flush(b)
	b.wave.next()
}

// NewBatch returns a batch for plan. The runtime keeps one per partition.
func NewBatch(plan Plan) *Batch {
	b := &Batch{plan: plan, keys: keys{mine: map[Key]int{}}}
	b.wave.init()
	return b
}

// Reset empties the batch. known, which may be nil, knows which keys were claimed before.
func (b *Batch) Reset(known Known) {
	b.plan.Flush(b) // what an interrupted run left in the plan's buffers
	for _, r := range b.dirty {
		r.reset()
	}
	b.wave.clear()
	b.wave.event = 0
	b.steps, b.args, b.dirty = b.steps[:0], b.args[:0], b.dirty[:0]
	b.waiting, b.done = nil, nil
	b.keys.reset(known)
}

// Outcome is the outcome of one record.
type Outcome int

// The outcomes of a record.
const (
	Applied Outcome = iota // its effect is part of the batch
	Resent                 // known key, equal content: no effect
	Ignored                // skipped on purpose
	Waiting                // its effect has not been called yet
)

// Add adds one record. policy is on_failure of its topic and must not change. After an error the
// batch is unchanged, so the record can become a dead letter in the same transaction.
func (b *Batch) Add(m *Message, policy *FailurePolicy) (Outcome, error) {
	b.record = record{outcome: Applied, policy: policy, before: takenBy(b)}
	b.wave.begin()
	if b.wave.records {
		b.endWave()
	}
	err := b.plan.Add(b, m)
	if err != nil {
		GiveUp(b)
	}
	return b.record.outcome, err
}

// Finish ends the last wave and returns all steps and claims in order, valid until Reset.
func (b *Batch) Finish() ([]Step, []Claim) {
	b.endWave()
	return b.steps, b.keys.claims
}

// Claim is a key that the batch claims.
type Claim struct {
	Key   Key
	Def   uint32 // definition of the event's content
	Print uint32 // fingerprint of the event's content
	Here  bool   // copies: same_partition: the chain holds the key, not idem_keys
}

// Prior is a key claimed earlier: its fingerprint and the definition it was made under.
type Prior struct {
	Print uint32
	Def   uint32
}

// conflicts reports whether an event with the same key has different content.
func (p Prior) conflicts(def, print uint32) bool { return p.Def == def && p.Print != print }

// Known knows which keys were claimed before a transaction.
type Known interface {
	// Find looks up a key: in the chain of this partition if here is true, otherwise among the
	// keys that all partitions share.
	Find(key Key, here bool) (p Prior, ok bool)
}

// keys are those that the events of a batch claim.
type keys struct {
	claims []Claim
	mine   map[Key]int // key -> index in claims
	hidden []Key       // unknown keys of records that were rejected after their claim
	known  Known       // keys that were claimed before this transaction
}

func (k *keys) reset(known Known) {
	clear(k.mine)
	k.claims, k.hidden = k.claims[:0], k.hidden[:0]
	k.known = known
}

// Claim claims the event's key: for all partitions or, if here is true, in the chain of this
// partition, through which all duplicates arrive. It returns false for a duplicate: the caller
// then adds nothing. It returns a [ConflictError] if the key is known with different content.
//
// print is the fingerprint of the content, and content is the hash of its definition. Another
// version of the service may have stored a fingerprint made under another definition. Such
// fingerprints cannot be compared: an event with a known key then counts as a duplicate, whatever
// its content is. Call Claim after everything that can reject the event, and before its first row.
func (b *Batch) Claim(event string, key Key, content, print uint32, here bool) (fresh bool, err error) {
	b.record.event = event
	b.record.key, b.record.content, b.record.print = key, content, print
	known, dup := b.keys.find(key, here)
	switch {
	case !dup:
		b.keys.mine[key] = len(b.keys.claims)
		b.keys.claims = append(b.keys.claims, Claim{key, content, print, here})
		return true, nil
	case known.conflicts(content, print):
		return false, &ConflictError{Event: event, Key: key}
	}
	b.record.outcome = Resent
	return false, nil
}

// find looks up a key in this batch and before it.
func (k *keys) find(key Key, here bool) (Prior, bool) {
	if i, ok := k.mine[key]; ok {
		return Prior{Print: k.claims[i].Print, Def: k.claims[i].Def}, true
	}
	if k.known == nil {
		return Prior{}, false
	}
	return k.known.Find(key, here)
}

// Hidden returns the keys, among those that all partitions share, of records that were rejected
// after their claim. If one of these keys turns out to be known, its record is a duplicate.
func (b *Batch) Hidden() []Key { return b.keys.hidden }

// EventIDs derives the ids of the events that one record sends. The ids are the same in every
// transaction that applies the record, even after a failover that loses commits.
type EventIDs struct {
	call   *Call          // that sends them; nil if a step does
	record string         // identity of the record's event; "" before it is needed
	sent   map[string]int // number of events so far, by subject
}

// Next returns the id of the next event about a subject: a UUID of version 8.
func (ids *EventIDs) Next(subject string) (id UUID) {
	if ids.sent == nil {
		ids.sent = map[string]int{}
	}
	if c := ids.call; ids.record == "" && c != nil {
		ids.record = identity(c.Key, c.origin, c.Message)
	}
	ids.sent[subject]++
	sum := sha256.Sum256(fmt.Appendf(nil, "idemgen event of %q %q %d", ids.record, subject, ids.sent[subject]))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// identity identifies the event of a record: by its key or, without one, by its place in the log.
// origin is the consumer and the topic's id.
func identity(key Key, origin string, m *Message) string {
	if key != (Key{}) {
		return "key " + key.String() // the key is also a hash of the consumer
	}
	// A log that was cut gives an offset to another record, whose time is another.
	return fmt.Sprintf("%s %d/%d %d", origin, m.Partition, m.Offset, m.Time.UnixMilli())
}

// From sets the consumer and the topic id of the records that are added.
func (b *Batch) From(consumer string, topic UUID) { b.origin = consumer + " " + topic.String() }

// OutboxID returns the id of the next event that a step writes into the outbox for the record m.
func (b *Batch) OutboxID(m *Message, step string) UUID {
	ids := &b.record.ids
	if ids.record == "" {
		ids.record = identity(b.record.key, b.origin, m)
	}
	return ids.Next("step " + step)
}

// EventIDs derives the ids of the events that the call sends.
func (c *Call) EventIDs() EventIDs { return EventIDs{call: c} }
