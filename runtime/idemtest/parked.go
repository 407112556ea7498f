package idemtest

import (
	"bytes"
	"slices"
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
