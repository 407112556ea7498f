package member

import (
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// Partition is what the polling goroutine knows about an assigned partition.
type Partition struct {
	delivery  *intake.Delivery
	cursor    intake.Cursor
	assigned  bool // in the client
	paused    bool // in the client
	lost      bool // the client lost the position
	silence   silence
	end       int64 // of the log, as a comparison found it: the client may know less
	told      told
	committed atomic.Pointer[idemtype.Commit] // the last one to Kafka; nil if there was none; of any goroutine
}

func newPartition(d *intake.Delivery) *Partition {
	p := &Partition{delivery: d, cursor: intake.NewCursor(d.Queue)}
	return p
}

// ID returns the name of the partition.
func (p *Partition) ID() idemtype.Partition { return p.delivery.Partition }

// Misses reports whether a log that begins at an offset has lost records that were not yet read.
func (p *Partition) Misses(logStart int64) bool {
	return p.cursor.IsRead() && p.cursor.Next < logStart
}

// isFetched reports whether the client fetches records of the partition.
func (p *Partition) isFetched() bool {
	return p.assigned && p.cursor.State == intake.Reading && !p.paused
}

// start returns where the client must read.
func (p *Partition) start() At { return At{p.delivery.Partition, p.cursor.Start, p.cursor.Topic.ID} }

// partitions are the assigned partitions.
type partitions struct {
	all      map[idemtype.Partition]*Partition
	previous map[idemtype.Partition]<-chan struct{} // closed when the last delivery of a partition has ended
	last     *Partition                             // that Find found
	closed   bool                                   // no more partitions are accepted
	nextEnds time.Time
}

func newPartitions() partitions {
	return partitions{all: map[idemtype.Partition]*Partition{}, previous: map[idemtype.Partition]<-chan struct{}{}}
}

func (s *partitions) add(p *Partition) {
	id := p.delivery.Partition
	s.all[id], s.previous[id] = p, p.delivery.Over()
}

func (s *partitions) remove(p *Partition) {
	delete(s.all, p.delivery.Partition)
	s.last = nil
}

// holds reports whether a partition is still assigned.
func (s *partitions) holds(p *Partition) bool { return s.all[p.delivery.Partition] == p }

// Find returns the partition of a record; nil if it is not assigned.
func (m *Member) Find(topic string, number int32) *Partition {
	s := &m.partitions
	if p := s.last; p != nil && p.delivery.Partition.Number == number && p.delivery.Partition.Topic == topic {
		return p
	}
	s.last = s.all[idemtype.Partition{Topic: topic, Number: number}]
	return s.last
}

// among returns the assigned ones of a list.
func (s *partitions) among(list []idemtype.Partition) (out []*Partition) {
	for _, id := range list {
		if p := s.all[id]; p != nil {
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
