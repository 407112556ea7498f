package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/shop"
)

// sentAt is a copy of a record, sent at a time.
func sentAt(at time.Time, m *wire.Message) *wire.Message {
	c := shop.Again(m)
	c.Time = at
	return c
}

// TestPlantedEventsOfAnOutboxAreFound: the audit of an outbox finds each fault of a topic, and
// nothing where it holds what was committed.
func TestPlantedEventsOfAnOutboxAreFound(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	for name, test := range map[string]struct {
		plant func(topic []*wire.Message) []*wire.Message
		want  string // "" is nothing
	}{
		"as it must be": {func(topic []*wire.Message) []*wire.Message { return topic }, ""},
		"copies after a relay died": {func(topic []*wire.Message) []*wire.Message {
			return append(topic, sentAt(at(20), topic[4]), sentAt(at(20), topic[5]))
		}, ""},
		"a lost event":    {func(topic []*wire.Message) []*wire.Message { return slices.Delete(topic, 2, 3) }, "lost: event 2"},
		"a doubled event": {func(topic []*wire.Message) []*wire.Message { return slices.Insert(topic, 3, topic[2]) }, "was sent again"},
		"a copy long after a relay died": {func(topic []*wire.Message) []*wire.Message {
			return append(topic, sentAt(at(20), topic[5]), sentAt(at(30), topic[5]))
		}, "was sent again"},
		"an event that was rolled back": {func(topic []*wire.Message) []*wire.Message {
			m := shop.Again(topic[0])
			m.Headers = []wire.Header{{Name: "id", Value: []byte(uuid(3, 6).String())}}
			return append(topic, m)
		}, "was not committed"},
		"an event of nobody": {func(topic []*wire.Message) []*wire.Message {
			m := shop.Again(topic[0])
			m.Headers = nil
			return append(topic, m)
		}, "was not committed"},
		"an event under another key": {func(topic []*wire.Message) []*wire.Message {
			topic[5].Key = topic[4].Key
			return topic
		}, "another value"},
		"an event with another value": {func(topic []*wire.Message) []*wire.Message {
			topic[5].Value = nil
			return topic
		}, "another value"},
		"an event in another partition": {func(topic []*wire.Message) []*wire.Message {
			topic[5].Partition++
			return topic
		}, "is in partition"},
		"two events of a key in another order": {func(topic []*wire.Message) []*wire.Message {
			topic[3], topic[5] = topic[5], topic[3]
			return topic
		}, "came after"},
	} {
		t.Run(name, func(t *testing.T) {
			m := shop.New(1, 1)
			b := &book{}
			var topic []*wire.Message
			for i, e := range []*wire.Message{m.Placed(""), m.Placed(""), m.Shipped(), m.Shipped(), m.Shipped(), m.Shipped(), m.Shipped()} {
				e.Key = []byte{'a' + byte(i%2)}
				undone := i == 6
				b.enter(e, undone)
				if !undone {
					sent := sentAt(at(i), e)
					sent.Headers = []wire.Header{{Name: "id", Value: []byte(uuid(3, i).String())}}
					topic = append(topic, sent)
				}
			}
			_, found := b.compare(test.plant(topic), []outage{{at(15), at(16)}})
			var all []string
			for _, f := range found {
				all = append(all, f.String())
			}
			if test.want == "" && all != nil || test.want != "" && !strings.Contains(strings.Join(all, "\n"), test.want) {
				t.Errorf("found %q, want %q", all, test.want)
			}
		})
	}
}
