// Package seedlog makes the records with which the generated test of a topic starts. What
// the records do to the tables is the business of package oracle. It must not import any package
// of this module but model.
//
// # What the log covers
//
// What can go wrong between two records depends on how they use a row: by which verb, once
// or per element of a list, by its primary key or not, guarded by a version or not, as the
// row of a step, of a cascade or of a parent. So per table every kind of use stands next
// to every kind that uses the table, in both orders, where the spec lets the first one
// take effect. The first three events of a kind speak for it, and meet on two rows each; in
// a topic with so few, that is every pair of events. Each further event meets the first one
// of its kind, in both orders, and itself.
//
// Beside that: versions that rise, stay and fall; lists without elements; a second copy of
// rows that otherwise differ from record to record; every event twice; rows on which each
// event shows optional values as present, null and absent; two events under one key where they
// share keys. Copies, tombstones and
// broken records are made of the log by the suite that runs it (runtime/idemtest).
//
// # What a change of the spec changes
//
// The log has one section per event, in spec order: that event alone, then with each event
// before it that it must meet. A row has its name from the event, the other event and a
// count, and its numbers are made of that name. So a new event brings a section, and lines
// into the sections behind it; a new field or a new text of an enum changes lines of its
// events. Whatever else is there stays as it is, unless a cheaper way to make a row shows up,
// another event becomes one of the first three of its kind, or two names make one number.
//
// # How large it is
//
// Linear in the uses of the topic, that is in events times the tables that each uses,
// because there are only so many kinds. The planner does not search: it makes what the
// records of a row need (the events that make rows are known per table, the cheapest first).
//
// Values are made to be read: "customer_id 482913", uuid ...482913, decimals that fit. The
// same row always has the same key values; everything else differs from record to record, so
// that a lost, doubled or reordered record shows.
package seedlog

import (
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Record is one record of the log.
type Record struct {
	Topic  string    // "" if the entry says which one it is
	Time   time.Time // zero: that of its place in the log
	Event  string    // Go name of the event
	Keyed  bool      // has an identity of its own, so that a second copy has no effect
	Key    []byte    // nil if the topic declares no record key
	Value  []byte    // nil for a tombstone
	Result []byte    // of the event's effect, as JSON; nil without one
	// Error or Interrupted is what the event's effect says instead: that it did nothing, or that
	// nobody knows what it did.
	Error, Interrupted string
	Headers            []Header // event type first, then the idempotency key, then fields
}

// In is the topic of the record, which is in the log of an entry.
func (r *Record) In(t *model.Topic) string {
	if r.Topic != "" {
		return r.Topic
	}
	return t.Kafka[0]
}

// Header is one record header.
type Header struct {
	Name  string
	Value []byte
}

// Log returns the records in the order in which they are sent, all to one partition of their
// topic. The same model always gives the same bytes.
//
// Every idempotency key occurs once, except for one that consists of enums. Some records are
// refused, because a pair such as delete and update of one row cannot be had otherwise; at least
// three of four apply unless the topic cannot do better. None of an event whose on_failure says
// stop is refused, as far as the planner foresees it: it would halt the partition.
//
// The rows are there before the first record: those that the topic changes or names as
// parents, and does not make. A row that cannot be added is there already.
func Log(s *model.Service, t *model.Topic) ([]model.Row, []Record) {
	r := rolesOf(s, t)
	p := newPlanner(r, t)
	w := &writer{seconds: map[int]bool{}, roles: r, topic: t, last: map[int]int{}}
	var log []Record
	for _, e := range t.Events {
		log = append(log, w.records(p.section(e))...)
	}
	return w.rowsBefore(s), log
}
