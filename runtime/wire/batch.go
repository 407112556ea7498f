package wire

import "context"

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
