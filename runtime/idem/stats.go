package idem

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// RecordStats counts records by outcome. Each record that is delivered is counted once, and once
// more each time that it is replayed.
type RecordStats struct {
	Applied     int64 // took effect
	Redelivered int64 // duplicates: Kafka delivered the offset again
	Resent      int64 // duplicates: the producer sent the event again
	Conflicts   int64 // dead letters: known key, different content
	Dead        int64 // all other dead letters
	Waiting     int64 // parked behind a dead letter of their record key (on_failure.park)
	Ignored     int64 // skipped on purpose
}

// Stats is a snapshot: counters, which only grow from the construction of the consumer on, and the
// partitions that are assigned now.
type Stats struct {
	RecordStats
	Batches int64 // transactions
	// Searches counts batches that failed because of data. Each was searched for the record at
	// fault. Searches equals the number of records that the database or a handler rejected, or
	// at which a partition halted. A greater number means that statements of one batch interfered
	// with each other: please report it.
	Searches int64
	Fenced   int64 // batches rejected because another owner had appended
	// ForeignFences counts how often another owner fenced a partition that is still assigned
	// here. If that happens more than occasionally, two deployments use the same consumer name.
	ForeignFences int64
	// WentBack counts how often a partition was taken over whose database had lost commits, as
	// after a restore or a failover: offsets that were committed to Kafka are beyond its ledger.
	WentBack int64
	Waits    int64 // batches retried after an outage, a deadlock or a handler's error
	// KeyRaces counts batches that were rebuilt and resent because another partition had claimed
	// one of their keys first, or because the generation of keys had been sealed.
	KeyRaces int64
	Expired  int64 // dead letters closed because on_failure.keep had passed
	// OpenDead is the number of open dead letters in the database, parked records included, by
	// the first word of their reason; at most 100,000 in all. Only the process that does the
	// upkeep counts them, once a minute, and keeps the count for up to three; in others it is
	// nil. Over several processes, use the maximum.
	OpenDead map[string]int64
	Calls    idemtype.CallStats // of effects
	// Partitions lists the partitions that a Source was assigned, by topic and number. Those of an
	// idemtest.Writer are not among them, but their records are counted.
	Partitions []PartitionStats
}

// PartitionStats describes one partition while it is assigned to this process: its position, its
// lag, and the outcomes of its records since it was assigned. A partition is measured about every
// 5 seconds even if it makes no progress or is not read, because it is halted, waits or is in
// STANDBY. So its lag keeps growing.
type PartitionStats struct {
	Partition Partition
	State     string // as in Health; READY while it works
	// Position is the offset of the next record to apply, from the ledger: everything below it is
	// durable. It is -1 until the ledger has been read.
	Position int64
	// End is the offset that the next record to be written will have: the broker's high watermark,
	// as the client last learned it. It is -1 until then.
	End int64
	// Lag is the number of offsets from Position to End. It is -1 until both are known, and while
	// the partition is halted because its position does not belong to this log. It is an upper
	// bound for the number of records: transaction markers, aborted records and records removed by
	// compaction also take up offsets.
	Lag int64
	// LagTime is the age of the oldest record that is not yet durable, by its timestamp; 0 if Lag
	// is 0. Until that record is delivered, or if it has no timestamp, LagTime is the time since
	// this process first saw that the log goes beyond Position: a lower bound. LagTime is never
	// less than that, because timestamps may be in the future. While the partition is halted and
	// Lag is -1, LagTime is the time since the halt, unless the log is empty: records may be
	// waiting.
	LagTime time.Duration

	Applied    int64 // took effect
	Duplicates int64 // had taken effect before: Redelivered and Resent of Stats
	Conflicts  int64 // dead letters: known key, different content
	Dead       int64 // all other dead letters
	Ignored    int64 // skipped on purpose

	// From the ledger, not just since assignment: the number of record keys with a dead letter
	// behind which later records are parked (on_failure.park), and of parked records.
	ParkedKeys, WaitingRecords int
}

// partitions are the stats of all partitions that are assigned.
func (c *Consumer) partitions() []PartitionStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []PartitionStats
	for id, p := range c.assigned {
		r := p.Lag().Read(time.Now())
		all = append(all, PartitionStats{
			ParkedKeys: r.Parked.Keys, WaitingRecords: r.Parked.Records,
			Partition: id, State: p.Shown(), Position: r.Position, End: r.End, Lag: r.Records, LagTime: r.Age,
			Applied: r.Counts.Applied, Duplicates: r.Counts.Duplicates, Conflicts: r.Counts.Conflicts, Dead: r.Counts.Dead, Ignored: r.Counts.Ignored,
		})
	}
	slices.SortFunc(all, func(a, b PartitionStats) int {
		return cmp.Or(strings.Compare(a.Partition.Topic, b.Partition.Topic), cmp.Compare(a.Partition.Number, b.Partition.Number))
	})
	return all
}

// Stats returns the counters and the partitions; metrics packages poll it. It queries neither the
// broker nor the database. The numbers of each partition are from one moment.
func (c *Consumer) Stats() Stats {
	n := &c.process.Counters
	s := Stats{
		RecordStats: RecordStats{
			Applied: n.Applied.Load(), Redelivered: n.Redelivered.Load(), Resent: n.Resent.Load(),
			Conflicts: n.Conflicts.Load(), Dead: n.Dead.Load(), Waiting: n.Waiting.Load(), Ignored: n.Ignored.Load(),
		},
		Batches: n.Batches.Load(), Searches: n.Searches.Load(), Fenced: n.Fenced.Load(), ForeignFences: n.ForeignFences.Load(), WentBack: n.WentBack.Load(), Waits: n.Waits.Load(),
		KeyRaces: n.KeyRaces.Load(), Expired: c.expired.Load(), OpenDead: c.openLetters(), Partitions: c.partitions(),
	}
	if calls := c.process.Calls; calls != nil {
		s.Calls = calls.Stats()
	}
	return s
}

// openLetters returns the last count, if it is not older than a few runs of the upkeep.
func (c *Consumer) openLetters() map[string]int64 {
	if n := c.open.Load(); n != nil && time.Since(n.at) < 3*c.interval {
		return maps.Clone(n.byClass)
	}
	return nil
}
