package confluent

import (
	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
)

// tenures are the partitions that are assigned now. They belong to the polling goroutine.
type tenures map[idem.Partition]*tenure

// of are those of a list that are assigned.
func (all tenures) of(list []kafka.TopicPartition) []*tenure {
	var out []*tenure
	for _, tp := range list {
		if t := all[partitionOf(tp)]; t != nil {
			out = append(out, t)
		}
	}
	return out
}

// patience is how many milliseconds a poll may wait for a record: short while a partition
// waits for the polling goroutine, which nothing else can wake.
func (all tenures) patience() int {
	for _, t := range all {
		if t.state == taking || t.state == reading && t.paused {
			return 5
		}
	}
	return 50
}

// unread are the partitions of which the client does not hear where their logs end.
func (all tenures) unread() []idem.Partition {
	var list []idem.Partition
	for _, t := range all {
		if !t.fetched() {
			list = append(list, t.id)
		}
	}
	return list
}

// hungry reports whether a partition waits for records although its log may have more.
func (all tenures) hungry() bool {
	for _, t := range all {
		if t.state == reading && !t.paused && t.queue.hungry(t.next) {
			return true
		}
	}
	return false
}
