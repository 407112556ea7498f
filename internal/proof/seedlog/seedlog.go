// Package seedlog draws the records with which the generated test of a topic starts. It draws a
// record, asks package oracle what becomes of it, and keeps it if it takes effect. It must not
// import any package of this module but model and oracle.
//
// # What the log covers
//
// What can go wrong between two records depends on how they use a row: by which verb, once
// or per element of a list, by its primary key or not, guarded by a version or not, as the
// row of a step, of a cascade or of a parent. So events that use a table meet on rows of it, in
// both orders; nine pairs represent each two ways to use it.
//
// The log also has each event alone and twice in a row; rows on which its optional values are
// present, null and absent; versions that rise, stay and fall; lists without elements; a second
// copy of rows that otherwise differ from record to record; some records that the database
// rejects. Copies, tombstones and broken records are made of the log by the suite that plays it
// (runtime/idemtest).
//
// Values are made to be read: "customer_id 100017", uuid ...100017, decimals that fit. The
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
// Every idempotency key occurs once. Some records are rejected, because a pair such as delete and
// update of one row cannot be had otherwise; at least three of four apply unless the topic cannot
// do better. None of an event whose on_failure says stop is refused: it would halt the partition.
//
// The rows are there before the first record: those that the topic changes or names as
// parents, and does not make. If cases have rows before their events, given, the log has some of
// those tables, too. They are like the first one that is given, but for what names them.
func Log(s *model.Service, t *model.Topic, given []model.Row) ([]model.Row, []Record) {
	d := newDrawer(s, t, given)
	d.draw()
	return d.before, d.log
}
