package outbox

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/idemgen/idemgen/internal/text"
)

// Event is a message to other services, which is sent once the transaction has committed.
type Event struct {
	// ID is the event's id, in the header id of its record. If zero, [Write] derives it from the
	// record in the transaction of a handler; elsewhere the database generates a random one. Set
	// it, for example to an [ID], if the event must have the same id in two other transactions.
	ID [16]byte
	// AggregateType determines the topic of the record: by default "outbox.event." followed by it.
	AggregateType string
	// AggregateID is the record's key. Events of one aggregate are sent in order.
	AggregateID string
	// Type is the event's type, in the header type of its record.
	Type string
	// Payload is the record's value. A nil Payload makes a tombstone.
	Payload Payload
	// Headers are additional headers of the record. Each needs a column of type text in the
	// table; without it, [Write] returns an error, or, in a handler, the partition halts.
	// traceparent and tracestate have columns.
	Headers map[string]string
}

// ID derives an event's id, a UUID of version 8, from parts that identify the event, such as its
// type and the ids involved. Equal parts in the same order yield the same id in every transaction.
func ID(parts ...string) (id [16]byte) {
	sum := sha256.Sum256(fmt.Appendf(nil, "idemgen event %q", parts))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// Payload encodes the value of a record.
type Payload func() ([]byte, error)

// JSON returns a Payload that encodes v as encoding/json does. A []byte or a [json.RawMessage]
// must already be JSON: it is sent unchanged, and rejected if it is not valid.
func JSON(v any) Payload {
	return func() ([]byte, error) {
		var raw []byte
		switch v := v.(type) {
		case []byte:
			raw = v
		case json.RawMessage:
			raw = v
		default:
			return json.Marshal(v)
		}
		if !json.Valid(raw) {
			return nil, fmt.Errorf("outbox.JSON was given %d bytes that are not valid JSON: pass the value itself, or use outbox.Bytes for another encoding", len(raw))
		}
		return raw, nil
	}
}

// Bytes returns a Payload with b itself as the value. A nil b is an empty value, not a tombstone.
func Bytes(b []byte) Payload { return func() ([]byte, error) { return b, nil } }

// own are the columns that an event has beside its headers.
var own = []string{"seq", "id", "aggregatetype", "aggregateid", "type", "payload", "written_at", "idem_letter"}

// check rejects what the table, or Kafka, cannot store.
func (e *Event) check() error {
	for _, part := range []struct{ name, value string }{
		{"AggregateType", e.AggregateType}, {"AggregateID", e.AggregateID}, {"Type", e.Type},
	} {
		if part.value == "" {
			return fmt.Errorf("%s is empty", part.name)
		}
		if why := text.Flaw(part.value); why != "" {
			return fmt.Errorf("%s %s", part.name, why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		switch why := text.Flaw(name); {
		case name == "" || why != "":
			return fmt.Errorf("%q is not a valid header name", name)
		case slices.Contains(own, name):
			return fmt.Errorf("header %q is reserved: set it through the field of Event, if there is one", name)
		}
		if why := text.Flaw(e.Headers[name]); why != "" {
			return fmt.Errorf("header %q %s", name, why)
		}
	}
	return nil
}
