package main

import (
	"context"
	bigendian "encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// feed is a Source that makes its records itself, for bench/keys: without a broker the database is
// what bounds a run. Each record has a random key, or one that is made in an order, which is the
// same for the same offset. All records of a partition are of one place.
type feed struct {
	topic, place string
	partitions   int
	batch        int  // records of a transaction
	ordered      bool // keys are UUIDs of version 7

	wanted, begun, done atomic.Int64 // records
	assigned            sync.WaitGroup
	mu                  sync.Mutex
	takeOvers           []time.Duration
}

func newFeed(topic, place string, partitions, batch int) *feed {
	f := &feed{topic: topic, place: place, partitions: partitions, batch: batch}
	f.assigned.Add(partitions)
	return f
}

// Run implements idem.Source.
func (f *feed) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for p := range int32(f.partitions) {
		all.Go(func() {
			if err := f.partition(ctx, sink, idem.Partition{Topic: f.topic, Number: p}); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// partition hands over the records of a partition until ctx ends.
func (f *feed) partition(ctx context.Context, sink idem.Sink, id idem.Partition) error {
	began := time.Now()
	at, err := sink.Assigned(ctx, idem.Assignment{
		Partition: id, TopicID: wire.UUID{1}, Partitions: int32(f.partitions), High: 1 << 50,
		Committed: func(context.Context) (idem.Commit, error) { return idem.Commit{Offset: -1}, nil },
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.takeOvers = append(f.takeOvers, time.Since(began))
	f.mu.Unlock()
	f.assigned.Done()
	defer sink.Revoked(id)
	records := f.records(id)
	told := time.Time{}
	for ctx.Err() == nil {
		if now := time.Now(); now.Sub(told) > time.Second { // that all there is was handed over
			told = now
			sink.End(id, at.Offset, now)
			if err := sink.Idle(ctx, id, -1); err != nil && ctx.Err() == nil {
				return err
			}
		}
		n := f.take()
		if n == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		for i := range records[:n] {
			records[i].Offset = at.Offset
			putKey(records[i].Headers[0].Value, f.ordered, id.Number, at.Offset)
			at.Offset++
		}
		if err := sink.Deliver(ctx, id, records[:n]); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		f.done.Add(int64(n))
	}
	return nil
}

// take is how many records of those that are wanted a partition hands over next.
func (f *feed) take() int {
	for {
		begun := f.begun.Load()
		n := min(int64(f.batch), f.wanted.Load()-begun)
		if n <= 0 {
			return 0
		}
		if f.begun.CompareAndSwap(begun, begun+n) {
			return int(n)
		}
	}
}

// records is the memory of a batch.
func (f *feed) records(id idem.Partition) []idem.Message {
	place := fmt.Appendf(nil, "%s-%d", f.place, id.Number)
	records := make([]idem.Message, f.batch)
	for i := range records {
		records[i] = idem.Message{
			Topic: id.Topic, Partition: id.Number, Key: place, Value: fmt.Appendf(nil, `{"place":"%s"}`, place),
			Headers: []idem.Header{{Name: keyHeader, Value: make([]byte, 36)}},
		}
	}
	return records
}

// putKey writes a UUID of version 4; or 7, as if each partition had 1,000 records a second.
func putKey(to []byte, ordered bool, partition int32, offset int64) {
	var b [16]byte
	x := uint64(partition)<<48 | uint64(offset)
	bigendian.BigEndian.PutUint64(b[:], mixed(x))
	bigendian.BigEndian.PutUint64(b[8:], mixed(x+1<<62))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	if ordered {
		bigendian.BigEndian.PutUint64(b[:], uint64(1_800_000_000_000+offset)<<16|0x7000|mixed(x)>>52)
	}
	hex.Encode(to, b[:4])
	for i, part := range [][]byte{b[4:6], b[6:8], b[8:10], b[10:]} {
		at := 8 + 5*i
		to[at] = '-'
		hex.Encode(to[at+1:], part)
	}
}

// mixed maps numbers onto numbers that look random, each onto another one (splitmix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fed is a consumer that a feed feeds.
type fed struct {
	*feed
	consumer *idem.Consumer
	cancel   context.CancelFunc
	ended    chan struct{}
	err      error // of Run, once it ended
}

// start has the consumer take all partitions over.
func (f *feed) start(ctx context.Context, consumer *idem.Consumer) (*fed, error) {
	ctx, cancel := context.WithCancel(ctx)
	r := &fed{feed: f, consumer: consumer, cancel: cancel, ended: make(chan struct{})}
	go func() {
		r.err = consumer.Run(ctx, f)
		close(r.ended)
	}()
	assigned := make(chan struct{})
	go func() {
		f.assigned.Wait()
		close(assigned)
	}()
	select {
	case <-assigned:
		return r, nil
	case <-r.ended:
		return nil, fmt.Errorf("the consumer ended: %w", r.err)
	}
}

// apply has it apply so many records.
func (r *fed) apply(records int64) error {
	want := r.wanted.Add(records)
	for r.done.Load() < want {
		select {
		case <-r.ended:
			return fmt.Errorf("the consumer ended after %d of %d records: %w", r.done.Load(), want, r.err)
		case <-time.After(time.Millisecond):
		}
	}
	if s := r.consumer.Stats(); s.Applied != want {
		return fmt.Errorf("%d of %d records were applied: %+v", s.Applied, want, s.RecordStats)
	}
	return nil
}

func (r *fed) stop() error {
	r.cancel()
	<-r.ended
	return r.err
}
