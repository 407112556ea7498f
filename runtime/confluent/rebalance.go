package confluent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// rebalance is the client's callback; it runs within a poll, or within Close. It must change
// the assignment in every case: otherwise the client does it, at Kafka's committed offset.
func (r *run) rebalance(e kafka.Event) {
	switch e := e.(type) {
	case kafka.AssignedPartitions:
		r.assign(e.Partitions)
	case kafka.RevokedPartitions:
		lost := r.client.AssignmentLost()
		r.log.Info("partitions were taken away", "partitions", names(e.Partitions), "lost", lost)
		r.revoke(r.partitions.among(e.Partitions), lost)
		if lost {
			r.group.forgot()
			r.tellGroup()
		}
	}
}

// assign takes partitions over and reads those that are ready in time, possibly none; the
// polling goroutine reads the others when they are.
func (r *run) assign(list []kafka.TopicPartition) {
	r.log.Info("partitions were assigned", "partitions", names(list))
	var begun []*partition
	if !r.partitions.closed && r.ctx.Err() == nil {
		for _, tp := range list {
			begun = append(begun, r.begin(tp))
			r.compareRetention(*tp.Topic)
		}
	}
	deadline := time.NewTimer(r.pace.assign)
	defer deadline.Stop()
	for slices.ContainsFunc(begun, func(p *partition) bool { return !p.delivery.HasReport() }) {
		select {
		case <-r.intake.Reported:
			continue
		case <-deadline.C:
		case <-r.ctx.Done():
		}
		break
	}
	r.fetcher.read(r.applyReports(), true)
	r.group.shared()
	r.tellGroup()
}

// begin starts the delivery of a partition.
func (r *run) begin(tp kafka.TopicPartition) *partition {
	id := partitionOf(tp)
	p := newPartition(intake.NewDelivery(r.ctx, &r.intake, id, r.partitions.previous[id]))
	r.partitions.add(p)
	r.calls.Go(p.delivery.Run)
	return p
}

// revoke gives partitions up: no more records, transactions in flight ended by the sink,
// offsets committed, unassigned. Lost partitions may have another owner already, so that
// nothing is waited for and nothing is committed.
func (r *run) revoke(list []*partition, lost bool) {
	durable := make([]progress, 0, len(list))
	for _, p := range list {
		durable = append(durable, progress{p, r.sink.Durable(p.delivery.Partition)})
		p.delivery.End()
		r.partitions.remove(p)
		r.calls.Go(func() { p.delivery.GiveUp(lost) })
	}
	if !lost {
		r.commitAtLast(durable)
	}
	r.fetcher.unassign(list)
}

// commitAtLast waits until the sink has ended its work on partitions, and commits how far it
// came. A sink that does not end is left behind: the partition's next delivery waits for it.
func (r *run) commitAtLast(list []progress) {
	ended, cancel := context.WithTimeout(context.Background(), r.request)
	defer cancel()
	for i, g := range list {
		select {
		case <-g.partition.delivery.Over(): // and the sink has forgotten the partition
			list[i].durable = max(g.durable, g.partition.delivery.Durable())
		case <-ended.Done():
		}
	}
	select {
	case <-r.committer.commit(list):
	case <-time.After(r.request / 2):
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
