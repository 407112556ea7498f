package schema

// Topic is an entry of topics.
type Topic struct {
	Name           Text // Pos is the key
	Doc            Doc
	RecordKey      *RecordKey
	Assume         *Assume
	Fields         []*Field // fields that every event of the topic has
	IdempotencyKey *IdempotencyKey
	EventType      *Discriminator
	Ignore         *Texts
	Unhandled      *Unhandled
	StartFrom      *Text // earliest, latest or committed
	Events         []*Event
	OnFailure      *FailurePolicy
	Pos            Pos // the map
	Broken         bool
}

// RecordKey is what the Kafka record key holds: one part without Path, or parts that
// all have one.
type RecordKey struct {
	Key    Pos
	Pos    Pos
	Parts  []*KeyPart
	Broken bool
}

// KeyPart is one part of a record key.
type KeyPart struct {
	Name   Text // Pos is the key
	Doc    Doc
	Type   *FieldType // nil only if Broken
	Path   *Path
	Pos    Pos
	Broken bool
}

// Assume is what the producer promises.
type Assume struct {
	Key           Pos
	Pos           Pos
	OrderedBy     *Text // record_key
	UniqueRecords *Bool
	CopiesKeepKey *Bool // copies_keep_record_key
	Retention     *Duration
	Broken        bool
}

// IdempotencyKey is one idempotency_key map.
type IdempotencyKey struct {
	Key       Pos
	Pos       Pos
	SourceKey Pos         // the key "source"
	Source    []KeySource // at least one, unless Broken
	Window    *Duration   // nil for an offset key or if Broken
	UniquePer *Text       // event, topic or consumer
	Copies    *Text       // anywhere or same_partition
	Compare   *Compare
	Also      []FormerSource
	Missing   *Text // dead_letter or offset
	Broken    bool
}

// Compare is what copies must share: one of Word and Fields.
type Compare struct {
	Word   *Text // declared or nothing
	Fields []Text
	Pos    Pos
}

// FormerSource is one item of also: all its parts together.
type FormerSource struct {
	Parts []KeySource
	Pos   Pos
}

// Offset reports whether the source is {record: offset}.
func (k *IdempotencyKey) Offset() bool {
	return len(k.Source) == 1 && k.Source[0].Offset
}

// KeySource is one part of an idempotency key: exactly one of Field, Header and
// Offset.
type KeySource struct {
	Field  *Text
	Header *Text
	Offset bool // {record: offset}; only alone
	Pos    Pos
}

// Discriminator is where the type text of an event is found: one of Header and Path,
// unless Broken.
type Discriminator struct {
	Key    Pos
	Pos    Pos
	Header *Text
	Path   *Path
	Broken bool
}

// Unhandled says what happens with records that no event takes.
type Unhandled struct {
	Key         Pos
	Pos         Pos
	UnknownType *Text // dead_letter, skip or stop
	Tombstone   *Text // dead_letter, skip or stop
	Broken      bool
}

// Event is an entry of events.
type Event struct {
	Name           Text // Pos is the key
	Doc            Doc
	Type           *Texts // type texts; Key is the key "type"
	Tombstone      *Bool
	FieldsKey      Pos      // the key "fields"; zero if absent
	FieldsType     *Text    // fields is the name of a type
	Fields         []*Field // fields is a map
	IdempotencyKey *IdempotencyKey
	WriteKey       Pos // the key "write"; zero if absent
	Write          []*Step
	Handle         *Bool
	OnFailure      *FailurePolicy
	Pos            Pos // the map
	Broken         bool
}
