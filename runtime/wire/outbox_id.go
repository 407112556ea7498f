package wire

import (
	"crypto/sha256"
	"fmt"
)

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
