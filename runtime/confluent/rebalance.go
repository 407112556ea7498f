package confluent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// rebalance is the client's callback; it runs within a poll, or within Close. It must change
// the assignment in every case: otherwise the client does it, at Kafka's committed offset.
func (r *run) rebalance(e kafka.Event) {
	switch e := e.(type) {
	case kafka.AssignedPartitions:
		r.assigned(e.Partitions)
	case kafka.RevokedPartitions:
		lost := r.client.AssignmentLost()
		r.log.Info("partitions were taken away", "partitions", names(e.Partitions), "lost", lost)
		r.release(r.parts.of(e.Partitions), lost)
		if lost {
			r.group.join(false)
		}
	}
}

// assigned takes partitions over and assigns those that are ready in time, possibly none;
// the polling goroutine places the others when they are.
func (r *run) assigned(list []kafka.TopicPartition) {
	r.log.Info("partitions were assigned", "partitions", names(list))
	var begun []*tenure
	if !r.closing && r.ctx.Err() == nil {
		for _, tp := range list {
			begun = append(begun, r.begin(partitionOf(tp)))
		}
	}
	deadline := time.NewTimer(r.assign)
	defer deadline.Stop()
	for slices.ContainsFunc(begun, func(t *tenure) bool { return len(t.notes) == 0 }) {
		select {
		case <-r.bell:
			continue
		case <-deadline.C:
		case <-r.ctx.Done():
		}
		break
	}
	r.serve(true)
	r.group.join(true)
}

// release gives partitions up: intake closed, transactions in flight ended by the sink,
// hint committed, unassigned. Lost partitions may have another owner already, so that
// nothing is waited for and nothing is committed.
func (r *run) release(list []*tenure, lost bool) {
	hints := make([]hint, 0, len(list))
	for _, t := range list {
		hints = append(hints, hint{t, r.sink.Durable(t.id)})
		t.end()
		t.queue.shut()
		delete(r.parts, t.id)
		r.calls.Go(func() { r.giveUp(t, lost) })
	}
	r.last = nil
	if !lost {
		r.finish(hints)
	}
	var out []kafka.TopicPartition
	for _, t := range list {
		if t.assigned {
			out = append(out, t.position())
		}
	}
	r.check(r.client.IncrementalUnassign(out))
}

// finish waits until the sink has ended its work on partitions, and commits how far it came.
// A sink that does not end is left behind: the partition's next tenure waits for it.
func (r *run) finish(hints []hint) {
	patience, cancel := context.WithTimeout(context.Background(), r.answer)
	defer cancel()
	for i, h := range hints {
		select {
		case <-h.t.over:
			hints[i].offset = max(h.offset, h.t.passed.Load()) // the sink has forgotten the partition
		case <-patience.Done():
		}
	}
	select {
	case <-r.commit(hints):
	case <-time.After(r.answer / 2):
	}
}

// names lists partitions for the log.
func names(list []kafka.TopicPartition) []string {
	var out []string
	for _, tp := range list {
		out = append(out, fmt.Sprintf("%s/%d", *tp.Topic, tp.Partition))
	}
	slices.Sort(out)
	return out
}
