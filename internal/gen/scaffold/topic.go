package scaffold

// Topic is what a first spec says of a topic that has records. Texts are YAML; notes are lines of
// comments.
type Topic struct {
	Consumer, Package string
	Records           int // that were read
	Topic, Entry      string
	RecordKeyNotes    []string
	RecordKey         string
	KeyFormat         string
	AssumeNotes       []string
	Assume            string
	Encoding          string
	Key               *Key // nil if each event has its own
	EventType         string
	SkipNotes         []string
	Skip              string
	Tables            []TopicTable
	Events            []TopicEvent
}

// Key is an idempotency key.
type Key struct {
	Notes []string
	Text  string
}

// TopicTable is a table with the rows of one event.
type TopicTable struct {
	Name, Primary string
	Columns       []Column
}

// Column is a column, or a part of the record key.
type Column struct{ Name, Type string }

// TopicEvent is an event that becomes a row of its table.
type TopicEvent struct {
	Name    string
	Records int
	Type    string
	Key     *Key // nil if the topic has it
	Notes   []string
	Fields  []TopicField
	Table   string
}

// TopicField is a field of an event.
type TopicField struct{ Name, Text, Note string }
