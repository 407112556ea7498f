// Package seedlog makes the records with which the generated test of a topic starts: a
// short log in which every two kinds of event that touch one row meet on one, next to
// each other and in both orders. It reads generator/model and imports nothing else of
// this module; what the records do to the tables is the business of package oracle.
//
// Values are made to be read: "customer_id 1", uuid ...0001, decimals that fit. The same
// row always has the same key values; everything else differs from record to record, so
// that a lost, doubled or reordered record shows.
package seedlog

import "github.com/idemgen/idemgen/generator/model"

// Record is one record of the log.
type Record struct {
	Event   string   // Go name of the event
	Keyed   bool     // has an identity of its own, so that a second copy has no effect
	Key     []byte   // nil if the topic declares no record key
	Value   []byte   // nil for a tombstone
	Headers []Header // event type first, then the idempotency key, then fields
}

// Header is one record header.
type Header struct {
	Name  string
	Value []byte
}

// Log returns the records in the order in which they are sent, all to one partition. The
// same model always gives the same bytes.
//
// Every idempotency key occurs once, except for copies that only a former key gives away, at
// the end of the log; there stand also records that lack the key's header. Some records are refused, because a pair such as
// delete and update of one row cannot be had otherwise; at least three of four apply
// unless the topic cannot do better, for example because other topics own the parent rows.
func Log(s *model.Service, t *model.Topic) []Record {
	r := rolesOf(s, t)
	p := newPlanner(r, t)
	w := &writer{roles: r, topic: t, seen: map[*model.Event]int{}, last: map[int]int{}}
	var log []Record
	for _, v := range p.plan() {
		log = append(log, w.record(v))
	}
	for _, e := range t.Events {
		log = append(log, w.otherKeys(p, e)...)
	}
	return log
}
