package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	batchRecords = 500    // of one transaction
	pollRecords  = 10_000 // taken from the client at once
	queuedPolls  = 4      // a partition's, before the poll loop waits for it
)

// writer puts a batch of one partition into the database, in one transaction. A partition has one
// of its own, so that it may keep its buffers.
type writer interface {
	write(ctx context.Context, batch []*kgo.Record) error
}

// consumer reads the partitions that its group assigns to it, each in a goroutine of its own.
type consumer struct {
	client    *kgo.Client
	newWriter func() writer
	applied   atomic.Int64 // records in the database
	failed    chan error   // what ended a partition

	partitions map[int32]*partition // by the callbacks of the client, which block the poll
}

func newConsumer(brokers, topic string, newWriter func() writer) (c *consumer, err error) {
	c = &consumer{newWriter: newWriter, failed: make(chan error, 1), partitions: map[int32]*partition{}}
	c.client, err = kgo.NewClient(
		kgo.SeedBrokers(brokers), kgo.ConsumerGroup("peers"), kgo.ConsumeTopics(topic),
		kgo.OnPartitionsAssigned(c.assigned), kgo.OnPartitionsRevoked(c.lost), kgo.OnPartitionsLost(c.lost),
		kgo.AutoCommitMarks(), kgo.BlockRebalanceOnPoll(),
	)
	return c, err
}

// run polls until ctx ends or a batch fails, and leaves the group then.
func (c *consumer) run(ctx context.Context) error {
	defer c.client.CloseAllowingRebalance()
	for {
		fetches := c.client.PollRecords(ctx, pollRecords)
		if err := fetches.Err0(); err != nil {
			return err
		}
		var err error
		fetches.EachError(func(_ string, p int32, e error) { err = fmt.Errorf("partition %d: %w", p, e) })
		if err != nil {
			return err
		}
		fetches.EachPartition(func(f kgo.FetchTopicPartition) {
			if err == nil && len(f.Records) > 0 {
				err = c.hand(ctx, f.Partition, f.Records)
			}
		})
		if err != nil {
			return err
		}
		c.client.AllowRebalance()
	}
}

// hand gives records to their partition, when it has room.
func (c *consumer) hand(ctx context.Context, number int32, records []*kgo.Record) error {
	select {
	case c.partitions[number].queue <- records:
		return nil
	case err := <-c.failed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *consumer) assigned(ctx context.Context, _ *kgo.Client, assigned map[string][]int32) {
	for _, numbers := range assigned {
		for _, n := range numbers {
			p := &partition{consumer: c, writer: c.newWriter(), queue: make(chan []*kgo.Record, queuedPolls), ended: make(chan struct{})}
			c.partitions[n] = p
			go p.run(ctx)
		}
	}
}

// lost waits until the partitions wrote what they have, and commits the offsets.
func (c *consumer) lost(ctx context.Context, client *kgo.Client, lost map[string][]int32) {
	var ending sync.WaitGroup
	for _, numbers := range lost {
		for _, n := range numbers {
			p := c.partitions[n]
			delete(c.partitions, n)
			close(p.queue)
			ending.Go(func() { <-p.ended })
		}
	}
	ending.Wait()
	if err := client.CommitMarkedOffsets(ctx); err != nil {
		c.fail(err)
	}
}

func (c *consumer) fail(err error) {
	select {
	case c.failed <- err:
	default: // one is enough
	}
}
