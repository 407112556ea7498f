package wire

import (
	"cmp"
	"context"
	"time"
)

// Service is what generated code declares about one spec.
type Service struct {
	Source   string         // file name of the spec
	Consumer string         // names the ledger; also the default Kafka group.id
	Schema   map[string]int // versions of the runtime's tables that the code needs: core, keys, effects
	Identity Identity
	Limits   Limits
	Tables   []Table // all of the spec
	Topics   []Topic
}

// Identity determines which records are duplicates of an event, as hashes of what the spec says
// about all events. A version of a service with another Identity may not recognize events that
// this version applied, and vice versa.
type Identity struct {
	Writes uint32   // is written to the ledger
	Knows  []uint32 // identities after which this version may continue; includes Writes
}

// Limits are the spec's limits; the generator writes every one of them.
type Limits struct {
	BatchEvents      int           // events that close a batch
	BatchBytes       int           // bytes of keys, values and headers that close a batch
	BatchWait        time.Duration // age that closes a batch
	BatchTimeout     time.Duration // of one transaction
	EventTimeout     time.Duration // of one handler call
	StatementTimeout time.Duration // statement_timeout of the session
	LockTimeout      time.Duration // lock_timeout of the session
	MaxPollInterval  time.Duration // max.poll.interval.ms of the Kafka client
	MaxPayload       int           // bytes; longer records become dead letters
	Effects          int           // calls of effects at the same time in one process
}

// EffectTimeout returns the longest time that one call of an effect may take.
func (s *Service) EffectTimeout() (most time.Duration) {
	for i := range s.Topics {
		most = max(most, s.Topics[i].Effects)
	}
	return most
}

// StartFrom says where a partition without a ledger starts.
type StartFrom string

// Where a partition without a ledger starts.
const (
	Earliest  StartFrom = "earliest"
	Latest    StartFrom = "latest"
	Committed StartFrom = "committed" // the group's committed offset
)

// Topic is what generated code declares about one topic.
type Topic struct {
	Name      string // in Kafka
	StartFrom StartFrom
	OnFailure FailurePolicy // for records whose event does not say otherwise
	Ordered   bool          // assume: [ordered]
	Window    time.Duration // longest window of the keys that all partitions share (copies: anywhere); 0 = there are none
	Chain     time.Duration // longest window of the keys in the chain (copies: same_partition); 0 = there are none
	Shortest  time.Duration // shortest window, if it is neither of these
	Effects   time.Duration // longest time of one call of an effect; 0 = no event has one
	Parks     bool          // a dead letter of some event parks later records of its record key
	// Writes lists the tables that the statements change, including those changed by a cascade.
	Writes []string
	// Prepare fetches what is needed to decode records. It returns how many of the first records
	// can be decoded now, and an error if none can: the records then wait. nil if nothing is
	// needed.
	Prepare func(ctx context.Context, records []Message) (int, error)
	// NewPlan returns a plan with its own buffers; the runtime keeps one per partition.
	NewPlan func() Plan
}

// ReliesOnPartition reports whether the spec relies on which partition a record is in. If so, a
// changed number of partitions halts them.
func (t *Topic) ReliesOnPartition() bool { return t.Ordered || t.Chain > 0 || t.Parks }

// Statements returns the statements that the topic's plans pass to [Batch.Write], in order. The
// runtime prepares them when it opens a connection.
func (t *Topic) Statements() []string {
	all := []string{}
	t.NewPlan().Flush(&Batch{listed: &all})
	return all
}

// Plan turns records into rows and calls. Generated code implements it.
type Plan interface {
	// Add decodes m and adds its rows and calls to b. An error makes m a dead letter and must
	// leave b unchanged.
	Add(b *Batch, m *Message) error
	// Flush passes the collected rows to b, in the order in which they must be written.
	Flush(b *Batch)
}

// FailurePolicy is on_failure of a topic or of one event, with all defaults filled in.
type FailurePolicy struct {
	Retries        int           // calls of a handler after the first one
	InitialBackoff time.Duration // doubled after each attempt, with jitter
	MaxBackoff     time.Duration
	Stop           bool          // give_up: stop, which never writes a dead letter; else dead_letter
	StopAfter      int           // limit of dead letters in a row, beyond which the partition halts; at least 1
	Keep           time.Duration // how long a dead letter stays open
	Park           bool          // park: record_key: later records of the record key wait behind a dead letter
	Drop           bool          // dead_letter_payload: drop: a dead letter does not keep its record
}

// Table is what generated code declares about a table of the spec. The runtime compares it with
// the database's catalog at start (docs/production.md).
type Table struct {
	Name       string
	SQL        string     // how statements name it, if not by Name: quoted, with its schema
	Unique     [][]string // the primary key, then the further unique keys
	Columns    []Column
	Rights     []string // that the steps need: SELECT, INSERT, UPDATE, DELETE
	References []Reference
}

// Column is what the spec says about a column.
type Column struct {
	Name     string // in the database
	Type     string // as the spec writes it
	Nullable bool
	Filled   bool     // only by the database
	Default  bool     // the database has a default value
	Left     string   // an event with a step that creates rows without it; "" if there is none
	Null     string   // an event with a step that may write NULL to it; "" if there is none
	Texts    []string // of a column with a custom type: the texts that steps write
}

// Reference is a foreign key that refers to the primary key of another table.
type Reference struct {
	Columns  []string
	Table    string
	OnDelete string // "cascade" or "set_null"; "" = restrict
}

// Apart says how far the writes of a table are kept apart, beyond what generated code knows about
// them, because batch boundaries must not change the result. Each degree includes those before it.
type Apart uint8

// How far the writes of a table are kept apart.
const (
	ApartRows    Apart = iota + 1 // rows with equal keys are written one after another, and not collapsed
	ApartTable                    // each write counts as a write of the whole table, because keys cannot be compared here
	ApartRecords                  // each record that could write it is a wave of its own
)

// KeepApart sets how far the writes of tables are kept apart from now on. records is true if a
// table that the plan writes needs [ApartRecords]. The map is read-only.
func (b *Batch) KeepApart(tables map[string]Apart, records bool) {
	b.wave.apart, b.wave.records = tables, records
}

// String returns the name of the degree, for the log.
func (a Apart) String() string {
	return [...]string{"no", "rows", "table", "records"}[min(a, ApartRecords)]
}

// Effect is one call of Go code outside of the transaction, under a lease, before the event's
// rows are written.
type Effect struct {
	Event string // Go name of the event
	Terms *EffectTerms
	// Fn makes the call and returns the event's result, encoded.
	Fn func(context.Context) ([]byte, error)
	// Read decodes a result for the event's rows; nil if the effect has no result. A result that
	// it rejects is not recorded. It may still reject a result that another version of the
	// service recorded.
	Read func(result []byte) error
	// Lock is held while the call runs, and until its result is recorded. The zero value means no
	// lock.
	Lock Lock

	// Set by [Batch.Effect].
	Message *Message
	Key     Key    // zero if the event is identified by its offset
	Content uint32 // definition of the event's content; 0 without a key
	Print   uint32 // its fingerprint
	Policy  *FailurePolicy
}

// Conflicts reports whether the effect was called, or its call begun, for an event with the same
// key and different content, whose definition and fingerprint are def and print.
func (e *Effect) Conflicts(def, print uint32) bool {
	return e.Content != 0 && Prior{Def: def, Print: print}.conflicts(e.Content, e.Print)
}

// EffectTerms holds the setting effect of one event, with all defaults filled in. It is read-only.
type EffectTerms struct {
	Lease   time.Duration // how long another process waits after the last sign of life of the holder; 0 means 30s
	Timeout time.Duration // of one call
	Keep    time.Duration // how long the result is remembered
	// Interrupts is if_interrupted: dead_letter: if the outcome of a call is unknown, the event
	// waits for an operator. Otherwise the call is repeated.
	Interrupts bool
}

// Term returns how long a lease lasts unless it is extended.
func (t *EffectTerms) Term() time.Duration { return cmp.Or(t.Lease, 30*time.Second) }

// EffectResult is the result of a successful call.
type EffectResult struct {
	Key    Key
	Token  int64 // of the lease under which it was made
	Result []byte
	// External says that the lease is not in Postgres. The ledger's transaction then completes no
	// lease; its claim of the key, or of the position, ensures that only one result counts.
	External bool
}

// Effects sets the results that are known, by the offset of the record.
func (b *Batch) Effects(results map[int64]EffectResult) { b.results = results }

// Effect decodes the result of the record's effect. If there is no result yet, the record waits:
// Effect keeps the call for the runtime, and returns false. If the result cannot be decoded,
// Effect returns an error. In both cases the caller adds no rows. Call Effect after [Event.Take],
// and before the first row.
func (b *Batch) Effect(m *Message, e Effect) (ok bool, err error) {
	if r, ok := b.results[m.Offset]; ok {
		if e.Read != nil {
			err = e.Read(r.Result)
		}
		b.effects.done = append(b.effects.done, r)
		return err == nil, err
	}
	e.Message, e.Key, e.Policy = m.kept(), b.record.key, b.record.policy
	e.Content, e.Print = b.record.content, b.record.print
	b.effects.waiting = append(b.effects.waiting, e)
	b.record.outcome = Waiting
	return false, nil
}

// taken is what a batch held before a record.
type taken struct{ claims, waiting, done int }

func takenBy(b *Batch) taken {
	return taken{len(b.keys.claims), len(b.effects.waiting), len(b.effects.done)}
}

// GiveUp removes the last record, which becomes a dead letter: its outcome was [Waiting], or it
// was rejected after the claim of its key. Its keys are then returned by [Batch.Hidden]: if one
// of them turns out to be known, the record is a duplicate, not a dead letter.
func GiveUp(b *Batch) {
	b.effects.waiting = b.effects.waiting[:b.record.before.waiting]
	b.effects.done = b.effects.done[:b.record.before.done]
	for _, c := range b.keys.claims[b.record.before.claims:] {
		delete(b.keys.mine, c.Key)
		if !c.Here {
			b.keys.hidden = append(b.keys.hidden, c.Key)
		}
	}
	b.keys.claims = b.keys.claims[:b.record.before.claims]
}

// effects are those of the batch's records.
type effects struct {
	waiting []Effect       // still to be called
	done    []EffectResult // called, and part of the batch
}

// Awaited returns the effects for which records wait, and the results that the batch's rows depend
// on. They are valid until Reset.
func (b *Batch) Awaited() (waiting []Effect, done []EffectResult) {
	return b.effects.waiting, b.effects.done
}
