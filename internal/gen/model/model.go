// Package model is a checked spec as plain data: what gocode, sqlcode, oracle
// and scaffold read. Every reference is resolved, every Go name is decided and
// every check has passed. It holds no positions and does no I/O. It must not import any other
// package of this module.
package model

import (
	"slices"
	"strings"
	"time"
)

// Service is one checked service spec.
type Service struct {
	Source     string // file name of the spec, for headers: "idemgen.yaml"
	Consumer   string // names the ledger; also the default Kafka group.id
	Package    string // Go package of the generated code
	Doc        Doc
	Types      []*Type  // in spec order
	Tables     []*Table // in spec order
	Topics     []*Topic // in spec order
	Limits     Limits
	Migrations Migrations
	Examples   string // path of the sample records as written in the spec, or ""
	// Identity is what makes records copies of one event, as hashes. It comes from
	// idem.state.yaml.
	Identity Identity
	// Schema are the versions of the runtime's own tables that the generated code needs, by part.
	Schema map[string]int
}

// Identity is the hash that this version writes into the ledger, and those behind which it may
// go on.
type Identity struct {
	Writes uint32
	Knows  []uint32
}

// Doc is what a named thing says about itself.
type Doc struct {
	Description string // one or more lines, without comment markers
}

// SharesKeys reports whether some event has a key that all partitions remember.
func (s *Service) SharesKeys() bool {
	return s.someEvent(func(e *Event) bool { return !e.Key.Offset && !e.Key.SamePartition })
}

// HasEffects reports whether some event has an effect.
func (s *Service) HasEffects() bool {
	return s.someEvent(func(e *Event) bool { return e.Effect != nil })
}

// HasHandlers reports whether the service has handlers.
func (s *Service) HasHandlers() bool { return s.someEvent(func(e *Event) bool { return e.Handle }) }

func (s *Service) someEvent(is func(*Event) bool) bool {
	return slices.ContainsFunc(s.Topics, func(t *Topic) bool { return slices.ContainsFunc(t.Events, is) })
}

// Migrations says where SQL goes and in which form.
type Migrations struct {
	Dir    string // slash-separated, relative to the spec
	Format string // sql, goose or golang_migrate
}

// MaxDepth is how many levels a payload or a record key may nest.
const MaxDepth = 64

// Limits are batch sizes and time budgets, defaults filled in.
type Limits struct {
	BatchEvents      int
	BatchBytes       int64 // bytes
	BatchWait        time.Duration
	BatchTimeout     time.Duration
	EventTimeout     time.Duration
	StatementTimeout time.Duration
	LockTimeout      time.Duration
	MaxPollInterval  time.Duration
	MaxPayload       int64 // bytes
	Effects          int   // calls of effects at the same time in one process
}

// FailurePolicy is on_failure after topic and event overrode the default key by key.
type FailurePolicy struct {
	Retries        int // attempts after the first
	InitialBackoff time.Duration
	MaxBackoff     time.Duration
	GiveUp         string        // "dead_letter" or "stop"
	StopAfter      int           // dead letters in a row that pause the partition
	Keep           time.Duration // how long a dead letter stays open
	Park           bool          // later records of the record key wait behind a dead letter
	Drop           bool          // a dead letter does not keep its record
}

// Parks reports whether a dead letter of some event has later records of its record key wait.
func (t *Topic) Parks() bool { return t.OnFailure.Park }

// Topic is one topics entry.
type Topic struct {
	Name      string // Kafka topic name, the key of the entry
	GoName    string // "OrdersV1"
	FileName  string // middle part of file names: "orders_v1" in idem_orders_v1_gen.go
	Doc       Doc
	Kafka     []string   // names in Kafka: what the entry reads; its own name says whose keys and rows they are
	RecordKey *RecordKey // nil if not declared
	Promises
	Payload Payload
	Dispatch
	StartFrom string   // earliest, latest or committed
	Events    []*Event // in spec order
	OnFailure FailurePolicy
	// Flush is every step of the topic in the order its statements run within a wave: steps
	// that make or change rows, parent tables before children, then those that only remove
	// rows, children before parents; ties in spec order.
	Flush []*Step
}

// Dispatch says which event a record is.
type Dispatch struct {
	EventType     []Discriminator // their texts are joined by /; none if the topic has one event
	Ignore        []string        // type texts passed over on purpose
	SkipUnknown   bool            // a type that no event has is passed over, and is no dead letter
	SkipTombstone bool            // and so is a record without a value, without a tombstone event
}

// Promises are what the spec assumes of a topic's producer.
type Promises struct {
	Ordered       bool // the records of one record key are in order
	UniqueRecords bool // no event is two records
	CopiesKeepKey bool // all copies of an event carry its record key
}

// TypeInPayload reports whether a text that tells events apart stands in the payload.
func (d *Dispatch) TypeInPayload() bool {
	return slices.ContainsFunc(d.EventType, func(by Discriminator) bool { return by.Header == "" })
}

// AllTypes are the types that the topic has: those of its events, and those that it ignores.
func (t *Topic) AllTypes() []string {
	all := slices.Clone(t.Ignore)
	for _, e := range t.Events {
		all = append(all, e.Types...)
	}
	return all
}

// TypeTexts are texts that make the type: they are in EventType's order, and the last ones may
// not be there.
func (d *Dispatch) TypeTexts(typ string) []string {
	texts := strings.SplitN(typ, "/", len(d.EventType))
	if slices.Contains(texts, "") {
		return []string{typ}
	}
	return texts
}

// Discriminator is where a text that tells events apart is found: a header or a path.
type Discriminator struct {
	Header string
	Path   []string // payload member names from the root
}

// RecordKey is what the Kafka record key holds.
type RecordKey struct {
	Packed
	Parts []*KeyPart
	JSON  bool // the key is, or unpacks to, JSON in which every part has a Path; else it is Parts[0] as a whole
}

// KeyPart is one part of a record key.
type KeyPart struct {
	Name   string
	GoName string
	Doc    Doc
	Type   FieldType
	Path   []string // member names inside the key, if RecordKey.JSON; none for all of it
}

// Event is one event of a topic.
type Event struct {
	Name      string
	GoName    string
	Doc       Doc
	Topic     *Topic
	Types     []string // type texts; empty if the topic has no event_type or for a tombstone
	Tombstone bool
	// Fields are the members of the generated struct: the event's own fields in spec
	// order, the topic's fields in spec order, then those record-key parts that the
	// event uses and that no field names (Source.Kind FromRecordKey).
	Fields []*Field
	Key    *IdempotencyKey
	Steps  []*Step // in spec order
	Code
	OnFailure FailurePolicy
	Marks
}

// Code is what Go code of the service does for an event.
type Code struct {
	Handle bool    // it has a handler, in its transaction
	Effect *Effect // nil if the event has none
}

// Marks are what an event says of itself in one word.
type Marks struct {
	// OwnFailure says that the spec gives this event an idempotency_key, which decides how long its
	// dead letters are kept: then its code states the whole policy, also one that is equal to the
	// topic's.
	OwnFailure bool
}

// HasCode reports whether Go code of the service gets the event.
func (e *Event) HasCode() bool { return e.Handle || e.Effect != nil }

// Returns reports whether the event has an effect with a result.
func (e *Event) Returns() bool { return e.Effect != nil && e.Effect.Result != nil }

// IdempotencyKey is what makes two records the same event.
type IdempotencyKey struct {
	Offset bool // source: {record: offset}; the rest is empty then
	Parts  []KeySource
	Window time.Duration
	// SamePartition is copies: same_partition; else anywhere.
	SamePartition bool
	// Compared are the fields that two records of one key must share, in name order. If there are
	// none, whatever carries a known key is a duplicate.
	Compared []*Field
	// Content is the definition of what the fingerprint covers, as a hash.
	Content uint32
	// Space is hashed before the parts: SHA-256 of consumer, topic and event name, and of what the
	// parts are called, each length-prefixed, cut to 16 bytes. So equal texts of two sources are
	// two keys.
	Space [16]byte
}

// KeySource is one part of an idempotency key: a header or a field.
type KeySource struct {
	Header string
	Field  *Field
}
