package wire

import (
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
	Name      string // in Kafka, or a pattern of names: "orders.<region>.v1"
	StartFrom StartFrom
	OnFailure FailurePolicy // for records whose event does not say otherwise
	Ordered   bool          // assume: [ordered]: a changed number of partitions halts the partition
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
