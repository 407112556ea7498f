package idemtest

import (
	"bytes"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
)

// parkedClass is the class of a record that waits behind a dead letter of its record key.
const parkedClass = "parked"

// keyWaits reports whether records of r's record key wait once the log is applied
// (on_failure.park): it holds a dead letter of the key, and is of a topic that parks.
func keyWaits(b *trial, r record) bool {
	key, topic := r.message.Key, r.message.Topic
	if key == nil {
		return false
	}
	parks := slices.ContainsFunc(b.log, func(o record) bool {
		return o.message.Topic == topic && b.want.dead[o.index].class == parkedClass
	})
	return parks && slices.ContainsFunc(b.log, func(o record) bool {
		return o.message.Topic == topic && b.isDead(o) && bytes.Equal(o.message.Key, key)
	})
}

// keysThatWait reads behind which dead letters records wait now (on_failure.park), and tells
// whether a record's key is that of one.
func keysThatWait(b *trial) func(record) bool {
	b.t.Helper()
	list, err := b.db.Query(b.t.Context(), `
SELECT s.topic, s.partition, d.offs FROM idem_dead_letter d JOIN idem_stream s USING (stream) WHERE d.state = 'd' AND d.parks`)
	if err != nil {
		b.t.Fatalf("idemtest: read the dead letters: %v", err)
	}
	var dead []idem.Message
	var at recordOffset
	_, err = pgx.ForEachRow(list, []any{&at.topic, &at.number, &at.offset}, func() error {
		if index, known := b.delivered[at]; known {
			dead = append(dead, b.log[index].message)
		}
		return nil
	})
	if err != nil {
		b.t.Fatalf("idemtest: read the dead letters: %v", err)
	}
	return func(r record) bool {
		return slices.ContainsFunc(dead, func(m idem.Message) bool { return m.Topic == r.message.Topic && bytes.Equal(m.Key, r.message.Key) })
	}
}
