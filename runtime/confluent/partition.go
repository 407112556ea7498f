package confluent

import (
	"sync/atomic"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// partition is what the polling goroutine knows of an assigned partition.
type partition struct {
	delivery  *intake.Delivery
	cursor    intake.Cursor
	assigned  bool // in the client
	paused    bool // in the client
	silence   silence
	committed atomic.Int64 // last offset committed to Kafka; of any goroutine
}

func newPartition(d *intake.Delivery) *partition {
	p := &partition{delivery: d, cursor: intake.NewCursor(d.Queue)}
	p.committed.Store(-1)
	return p
}

// isFetched reports whether the client asks the broker for records of the partition.
func (p *partition) isFetched() bool {
	return p.assigned && p.cursor.State == intake.Reading && !p.paused
}

// start is where the client must be told to read.
func (p *partition) start() kafka.TopicPartition {
	tp := topicPartition(&p.delivery.Partition, p.cursor.Start.Offset)
	if p.cursor.Start.Epoch >= 0 {
		tp.LeaderEpoch = &p.cursor.Start.Epoch
	}
	return tp
}

func topicPartition(id *idem.Partition, offset int64) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: &id.Topic, Partition: id.Number, Offset: kafka.Offset(offset)}
}

func partitionOf(tp kafka.TopicPartition) idem.Partition {
	return idem.Partition{Topic: *tp.Topic, Number: tp.Partition}
}

// partitions are those that are assigned.
type partitions struct {
	all      map[idem.Partition]*partition
	previous map[idem.Partition]<-chan struct{} // closed when the last delivery of a partition is over
	last     *partition                         // that find found
	closed   bool                               // no more partitions are taken
	nextEnds time.Time
}

func newPartitions() partitions {
	return partitions{all: map[idem.Partition]*partition{}, previous: map[idem.Partition]<-chan struct{}{}}
}

func (s *partitions) add(p *partition) {
	id := p.delivery.Partition
	s.all[id], s.previous[id] = p, p.delivery.Over()
}

func (s *partitions) remove(p *partition) {
	delete(s.all, p.delivery.Partition)
	s.last = nil
}

// holds reports whether a partition is still assigned.
func (s *partitions) holds(p *partition) bool { return s.all[p.delivery.Partition] == p }

// find returns the partition of a record; nil if it is not assigned.
func (s *partitions) find(tp kafka.TopicPartition) *partition {
	if p := s.last; p != nil && p.delivery.Partition.Number == tp.Partition && p.delivery.Partition.Topic == *tp.Topic {
		return p
	}
	s.last = s.all[partitionOf(tp)]
	return s.last
}

// among returns those of a list that are assigned.
func (s *partitions) among(list []kafka.TopicPartition) (out []*partition) {
	for _, tp := range list {
		if p := s.all[partitionOf(tp)]; p != nil {
			out = append(out, p)
		}
	}
	return out
}

// starved reports whether a partition waits for records although its log may have more.
func (s *partitions) starved() bool {
	for _, p := range s.all {
		if p.cursor.State == intake.Reading && !p.paused && p.delivery.Queue.Starved() {
			return true
		}
	}
	return false
}
