package member

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// committer commits offsets to Kafka as a hint, for operators who look at the group's lag. The
// position is in the ledger. Nothing is lost if a commit fails, so errors are only logged.
type committer struct {
	client Asker
	log    *slog.Logger
	calls  *sync.WaitGroup // that use the client
	next   time.Time
	busy   atomic.Bool
}

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

// commit commits offsets that have changed, without waiting. The returned channel is closed when
// that is done.
func (c *committer) commit(list []progress) <-chan struct{} {
	done := make(chan struct{})
	offsets := map[idemtype.Partition]idemtype.Commit{}
	for _, g := range list {
		if g.durable.Offset >= 0 && g.durable.Offset != g.partition.committed.Load() {
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
			c.log.Debug("the group's offsets were not committed; the ledger holds the position", "err", err)
			return
		}
		for _, g := range list {
			g.partition.committed.Store(g.durable.Offset)
		}
	})
	return done
}

// commitDurable commits the durable offsets of the partitions that are being read.
func (m *Member) commitDurable() {
	var list []progress
	for _, p := range m.partitions.all {
		if p.cursor.State == intake.Reading {
			list = append(list, progress{p, m.sink.Durable(p.delivery.Partition)})
		}
	}
	m.committer.commit(list)
}
