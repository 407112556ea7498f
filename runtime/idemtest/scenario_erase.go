package idemtest

import (
	"bytes"
	"slices"

	idem "github.com/idemgen/idemgen/runtime"
)

// tracesErased puts broken records around an event that erases the traces of its record key, and
// stops the event's batch at each of its steps: the one before must be kept until the event is
// passed, and erased from then on; one of another record key, and a later one, must stay.
func tracesErased(b *trial) {
	at := slices.IndexFunc(b.log, func(r record) bool { return r.erases && !b.isDead(r) && r.message.Key != nil })
	if at < 0 {
		b.t.Skip("no record of this log erases anything")
	}
	eraser := b.log[at]
	broken := slices.IndexFunc(b.log, func(r record) bool {
		_, ok := brokenPayload(r)
		return ok && r.message.Topic == eraser.message.Topic
	})
	if broken < 0 {
		b.t.Skip("no record of this topic has a payload that could be broken")
	}
	b.inexact = true
	e := newErasing(b, eraser, b.log[broken])
	for _, r := range b.log[:at] {
		e.add(e.b.at(r, 0, e.take(r.message.Topic)))
	}
	other := e.bad(append(bytes.Clone(eraser.message.Key), " of another"...))
	before := e.bad(eraser.message.Key)
	e.deliver()
	if len(b.ownDead) < 2 {
		b.t.Skip("on_failure says stop: a broken record is kept nowhere")
	}
	own := e.add(b.at(eraser, 0, e.take(eraser.message.Topic)))
	for n, stopped := 1, true; stopped; n++ {
		w := e.owners.writer(partitionOf(own))
		if stopped = b.stopAt(w, e.batch, anyStep, n); stopped {
			takeOverAgain(e.owners, partitionOf(own))
		}
		passed := e.owners.writer(partitionOf(own)).Next() > own.Offset
		e.check("before it", before, passed)
		e.check("of another record key", other, false)
	}
	e.batch = nil
	e.noResults(own)
	for _, r := range b.log[at+1:] {
		e.add(e.b.at(r, 0, e.take(r.message.Topic)))
	}
	after := e.bad(eraser.message.Key)
	e.deliver()
	e.check("before it", before, true)
	e.check("behind it", after, false)
}

// erasing delivers records and broken ones, each at the next offset of its topic.
type erasing struct {
	b      *trial
	owners owners
	like   record // of which broken ones are made
	eraser record
	next   map[string]int64
	batch  []idem.Message
}

func newErasing(b *trial, eraser, like record) *erasing {
	return &erasing{b: b, owners: b.owners(), like: like, eraser: eraser, next: map[string]int64{}}
}

func (e *erasing) take(topic string) int64 { e.next[topic]++; return e.next[topic] - 1 }

func (e *erasing) add(m idem.Message) idem.Message {
	e.batch = append(e.batch, m)
	return m
}

// bad adds a broken record with a record key.
func (e *erasing) bad(key []byte) idem.Message {
	m := e.b.copied(e.like, 0, e.take(e.like.message.Topic))
	broken, _ := brokenPayload(e.like)
	m.Value, m.Key = broken.Value, key
	e.b.ownDead[placeOf(m)] = expectedDead{}
	return e.add(m)
}

func (e *erasing) deliver() {
	e.owners.deliver(e.batch)
	e.batch = nil
}

// check checks whether the letter of a broken record was erased.
func (e *erasing) check(which string, m idem.Message, want bool) {
	e.b.t.Helper()
	const letter = `SELECT erased_by IS NOT NULL AND record IS NULL, erased_by IS NULL FROM idem_dead_letter d JOIN idem_stream s USING (stream)
WHERE s.topic = $1 AND s.partition = $2 AND d.offs = $3`
	var erased, kept bool
	if err := e.b.db.QueryRow(e.b.t.Context(), letter, m.Topic, m.Partition, m.Offset).Scan(&erased, &kept); err != nil {
		e.b.t.Fatalf("idemtest: read the dead letter of offset %d: %v", m.Offset, err)
	}
	if erased != want || kept == want {
		e.b.t.Errorf("the event that erases the record key, at offset %d of the log: the letter of a record %s is erased: %v, want %v", e.eraser.index, which, erased, want)
	}
}

// noResults checks that no effect of the record key up to the event has a result.
func (e *erasing) noResults(own idem.Message) {
	var offsets []int64
	for at, index := range e.b.delivered {
		r := e.b.log[index].message
		if at.topic == own.Topic && at.offset <= own.Offset && bytes.Equal(r.Key, own.Key) {
			offsets = append(offsets, at.offset)
		}
	}
	const results = `SELECT count(*) FROM idem_lease l JOIN idem_stream s USING (stream) WHERE s.topic = $1 AND l.offs = ANY($2) AND l.result IS NOT NULL`
	var n int
	if err := e.b.db.QueryRow(e.b.t.Context(), results, own.Topic, offsets).Scan(&n); err != nil {
		e.b.t.Fatalf("idemtest: read the leases: %v", err)
	}
	if n > 0 {
		e.b.t.Errorf("the event that erases the record key, at offset %d of the log, left results of %d effects", e.eraser.index, n)
	}
}
