// Package survey describes the records of a topic: how their values are written, which events
// there are, their fields, and what identifies an event. It is given one record at a time and
// keeps counts, types and hashes of it; of the values it keeps only the texts of event types.
//
// It must not import any package of this module but asjson, text and wire.
package survey

import (
	"fmt"
	"time"
)

// Record is what the survey needs of a record. Nothing keeps its slices.
type Record struct {
	Partition int32
	Time      time.Time
	Key       []byte // nil: it has none
	Headers   []Header
	Value     []byte // nil: a tombstone
}

// Header is one header of a record.
type Header struct {
	Name  string
	Value []byte
}

// Report describes a sample of a topic.
type Report struct {
	Topic      string     `json:"name"`
	Partitions int        `json:"partitions"`
	Records    int        `json:"records"`
	Oldest     time.Time  `json:"oldest"`
	Newest     time.Time  `json:"newest"`
	Backwards  int        `json:"back_in_time"` // records that are older than the one before them in their partition
	Median     int        `json:"median_bytes"` // of the values
	Largest    int        `json:"largest_bytes"`
	Forms      []Count    `json:"values"`     // how values are written, most frequent first
	RecordKey  RecordKey  `json:"record_key"` // of all records
	EventType  *EventType `json:"event_type,omitempty"`
	Events     []*Event   `json:"events"`
}

// Count is how many records have a form.
type Count struct {
	Form    Form `json:"form"`
	Records int  `json:"records"`
}

// Form is how a value is written.
type Form string

// The forms of values.
const (
	JSONObject Form = "a JSON object"
	JSONText   Form = "a JSON object as text in a JSON string"
	JSONFramed Form = "a JSON object behind a zero byte and a schema id"
	Framed     Form = "Avro or Protobuf behind a zero byte and a schema id"
	OtherJSON  Form = "JSON, but not an object"
	TooDeep    Form = "JSON nested deeper than 64 levels"
	Invalid    Form = "text that is not valid JSON"
	Binary     Form = "binary: Avro or Protobuf without a schema id, or another format"
	TooLarge   Form = "longer than 1 MiB, and not examined"
	Tombstone  Form = "no value (a tombstone)"
)

// Form returns the form of most values, and how many have it. Tombstones do not count unless
// there is nothing else.
func (r *Report) Form() (most Count) {
	for _, c := range r.Forms {
		if most.Records == 0 || most.Form == Tombstone {
			most = c
		}
	}
	return most
}

// Tombstones returns how many records have no value.
func (r *Report) Tombstones() int { return r.count(Tombstone) }

func (r *Report) count(f Form) int {
	for _, c := range r.Forms {
		if c.Form == f {
			return c.Records
		}
	}
	return 0
}

// Usable returns how many records have fields.
func (r *Report) Usable() int { return r.count(r.Form().Form) }

// RecordKey is what the keys of the records have in common.
type RecordKey struct {
	Records  int     `json:"records"` // that have one
	Type     string  `json:"type,omitempty"`
	Form     KeyForm `json:"form,omitempty"`
	Equals   string  `json:"equals,omitempty"` // the member of the value that it equals wherever both are there
	Distinct int     `json:"distinct"`
	Spread   int     `json:"in_several_partitions"` // how many keys have records in more than one partition
}

// KeyForm is how record keys are written.
type KeyForm string

// The forms of record keys.
const (
	TextKey   KeyForm = "text"
	QuotedKey KeyForm = "json"   // a JSON string
	LongKey   KeyForm = "binary" // 8 bytes, as Kafka's LongSerializer writes them
	OtherKey  KeyForm = "other"  // bytes that are no text, or keys of several forms
)

// EventType is where a record says which event it is: a header or a member of the value.
type EventType struct {
	Header string `json:"header,omitempty"`
	Member string `json:"member,omitempty"`
}

// Event are the records of one type.
type Event struct {
	Type       string       `json:"type,omitempty"` // "" if the topic has one event
	Records    int          `json:"records"`
	Fields     []Field      `json:"fields"`
	Null       []string     `json:"always_null,omitempty"` // members without a type
	Open       bool         `json:"open,omitempty"`        // too many members: their names are data
	Candidates []*Candidate `json:"key_candidates"`
	Key        *Candidate   `json:"key"` // what identifies an event best; nil if nothing does
}

// Field is a member of the values of an event.
type Field struct {
	Member   string `json:"member"`
	Type     string `json:"type"` // as the spec words it
	Optional bool   `json:"optional"`
	Records  int    `json:"records"` // that have it, and not as null
}

// Candidate is a header or a member that is (nearly) unique in the records of an event. Repeats
// are records whose text an earlier record had.
type Candidate struct {
	Header    string        `json:"header,omitempty"`
	Member    string        `json:"member,omitempty"`
	Type      string        `json:"type"`
	Records   int           `json:"records"`
	Distinct  int           `json:"distinct"`
	Same      int           `json:"repeats_same_content"`
	Other     int           `json:"repeats_other_content"`
	Elsewhere int           `json:"repeats_in_another_partition"`
	Apart     time.Duration `json:"longest_apart_ns"` // between the first and the last record of one text
}

// Longest is Apart as people read it.
func (c *Candidate) Longest() string {
	if days := c.Apart.Hours() / 24; days > 2 {
		return fmt.Sprintf("%.1f days", days)
	}
	return c.Apart.Round(time.Second).String()
}
