package member

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// Assign begins to take over partitions that the group assigned to this member, perhaps none.
// DoWhatIsDue reads each one when it is ready. Other partitions do not wait for that.
func (m *Member) Assign(list []idemtype.Partition) {
	m.log.Info("partitions were assigned", "partitions", names(list))
	if !m.partitions.closed { // those of a member that has ended end at once
		for _, id := range list {
			m.begin(id)
			m.compareRetention(id.Topic)
		}
	}
	m.fetcher.read(m.applyReports(), true)
	m.Shared()
}

// begin starts the delivery of a partition.
func (m *Member) begin(id idemtype.Partition) {
	p := newPartition(intake.NewDelivery(m.ctx, &m.intake, id, m.partitions.previous[id]))
	m.partitions.add(p)
	m.calls.Go(p.delivery.Run)
}

// Revoke gives up partitions that the group revoked. Lost ones may have another owner already.
func (m *Member) Revoke(list []idemtype.Partition, lost bool) {
	if len(list) > 0 {
		m.log.Info("partitions were revoked", "partitions", names(list), "lost", lost)
	}
	m.giveUp(m.partitions.among(list), lost)
	if lost {
		m.group.forgot()
		m.tellGroup()
	}
}

// giveUp gives up partitions: it stops their records, lets the sink end transactions in flight,
// commits offsets, and unassigns them. For lost partitions it neither waits nor commits.
func (m *Member) giveUp(list []*Partition, lost bool) {
	durable := make([]progress, 0, len(list))
	for _, p := range list {
		durable = append(durable, progress{p, m.sink.Durable(p.delivery.Partition)})
		p.delivery.End()
		m.partitions.remove(p)
		m.calls.Go(func() { p.delivery.GiveUp(lost) })
	}
	if !lost {
		m.commitAtLast(durable)
	}
	m.fetcher.unassign(list)
}

// commitAtLast waits until the sink has ended its work on partitions, and commits its progress. If
// the sink does not end in time, the partition's next delivery waits for it.
func (m *Member) commitAtLast(list []progress) {
	ended, cancel := context.WithTimeout(context.Background(), m.Request)
	defer cancel()
	for i, g := range list {
		select {
		case <-g.partition.delivery.Over(): // and the sink no longer knows the partition
			if last := g.partition.delivery.Durable(); last.Offset >= 0 {
				list[i].durable = last
			}
		case <-ended.Done():
		}
	}
	select {
	case <-m.committer.commit(list):
	case <-time.After(m.Request / 2):
	}
}

// names lists partitions for the log.
func names(list []idemtype.Partition) []string {
	var out []string
	for _, id := range list {
		out = append(out, fmt.Sprintf("%s/%d", id.Topic, id.Number))
	}
	slices.Sort(out)
	return out
}
