package wire

import "context"

// Batch is the work of one transaction, in order. Generated code adds to it; the
// runtime sends it. It is not safe for concurrent use.
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

// record is what is known of the record that is being added.
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

// buffers are what every event of the batch uses again.
type buffers struct {
	builder KeyBuilder
	print   Fingerprint
	fit     Fit
}

// Stage is what a step is. The runtime has one place that runs each.
type Stage uint8

// The stages.
const (
	Statement Stage = iota // over rows: SQL and Args
	GoCall                 // of a handler: Call
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

// Ignore says that the record is passed over on purpose, as the spec says.
func (b *Batch) Ignore() { b.record.outcome = Ignored }

// Failure is on_failure of the last record that was added.
func (b *Batch) Failure() *FailurePolicy { return b.record.policy }

// Event is the Go name of the last record's event, or "" if the record is none of the spec's.
func (b *Batch) Event() string { return b.record.event }

// Write queues one statement over rows, if there are any. Only Flush calls it.
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

// Call queues a handler; what was collected so far is written before it, so that
// effects keep the order of the records.
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

// Reset empties the batch. known, which may be nil, tells which keys were claimed before.
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

// Outcome is what became of one record.
type Outcome int

// What became of one record.
const (
	Applied Outcome = iota // its effect is part of the batch
	Resent                 // a known key with equal content: no effect
	Ignored                // passed over on purpose
	Waiting                // its effect was not made yet
)

// Add adds one record; policy, which stays as it is, is on_failure of its topic. After an
// error the batch is as it was, so the record can become a dead letter of the same
// transaction.
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
