package member

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// committer commits offsets to Kafka: for operators who look at the group's lag, and with metadata
// by which a take-over notices that the database lost commits. The position is in the ledger.
// Nothing is lost if a commit fails, so errors are only logged.
type committer struct {
	client   Asker
	log      *slog.Logger
	calls    *sync.WaitGroup // that use the client
	next     time.Time
	busy     atomic.Bool
	failures atomic.Int32 // since the last success
}

// mostSilent is after how many failures in a row, at one commit every five seconds, they are
// reported.
const mostSilent = 6

// progress is the progress of a partition.
type progress struct {
	partition *Partition
	durable   idemtype.Commit
}

// due reports whether it is time to commit, once per interval.
func (c *committer) due(now time.Time, interval time.Duration) bool {
	if !now.After(c.next) {
		return false
	}
	c.next = now.Add(interval)
	return !c.busy.Load()
}

// commit commits what has changed, without waiting. The returned channel is closed when that is
// done.
func (c *committer) commit(list []progress) <-chan struct{} {
	done := make(chan struct{})
	offsets := map[idemtype.Partition]idemtype.Commit{}
	for _, g := range list {
		if last := g.partition.committed.Load(); g.durable.Offset >= 0 && (last == nil || *last != g.durable) {
			offsets[g.partition.delivery.Partition] = g.durable
		}
	}
	if len(offsets) == 0 {
		close(done)
		return done
	}
	c.busy.Store(true)
	c.calls.Go(func() {
		defer close(done)
		defer c.busy.Store(false)
		if err := c.client.Commit(context.Background(), offsets); err != nil {
			c.failed(err)
			return
		}
		if c.failures.Swap(0) >= mostSilent {
			c.log.Info("the group's offsets are committed again")
		}
		for i := range list {
			list[i].partition.committed.Store(&list[i].durable)
		}
	})
	return done
}

// failed logs that offsets were not committed: as a warning once, when that lasts.
func (c *committer) failed(err error) {
	if c.failures.Add(1) == mostSilent {
		c.log.Warn("the group's offsets have not been committed several times in a row; the ledger holds the position, but commits that the database loses now are not noticed, and effects are called again for them", "failures", mostSilent, "err", err)
		return
	}
	c.log.Debug("the group's offsets were not committed; the ledger holds the position", "err", err)
}

// commitDurable commits what is durable of the partitions.
func (m *Member) commitDurable() {
	var list []progress
	for _, p := range m.partitions.all {
		list = append(list, progress{p, m.sink.Durable(p.delivery.Partition)})
	}
	m.committer.commit(list)
}
