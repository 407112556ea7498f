package idem

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// RecordStats count records, and add up to what was delivered.
type RecordStats struct {
	Applied     int64 // took effect
	Redelivered int64 // duplicates: Kafka delivered an offset again
	Resent      int64 // duplicates: the producer sent the event again
	Conflicts   int64 // dead letters: a known key with other content
	Dead        int64 // all other dead letters
	Waiting     int64 // wait behind a dead letter of their record key (on_failure.park)
	Ignored     int64 // passed over on purpose
}

// Stats is a snapshot of counters that only grow, since the consumer was constructed, and of
// the partitions that are assigned now.
type Stats struct {
	RecordStats
	Batches int64 // transactions
	// Searches counts failures of a batch because of data; each was searched for one
	// record: equal to the records that the database or a handler refused, or before which a
	// partition halted. A greater number
	// means that statements of one batch got in each other's way: please report it.
	Searches int64
	Fenced   int64 // batches refused because another owner had appended
	// ForeignFences counts how often another owner's fence ended the memory of a partition
	// that is still assigned here. More than one now and then means that two deployments
	// have one consumer name.
	ForeignFences int64
	Waits         int64 // batches tried again after an outage, a deadlock or a handler's error
	// KeyRaces counts batches built and sent again because another partition had claimed one
	// of their keys first, or because the generation of keys had been sealed.
	KeyRaces int64
	Expired  int64              // dead letters closed because on_failure.keep was over
	Calls    idemtype.CallStats // of effects
	// Partitions are those that a Source was assigned, by topic and number; what [Consumer.Own]
	// took over is not among them.
	Partitions []PartitionStats
}

// PartitionStats is one partition while it is assigned to this process: its position, how
// far it is behind, and what became of its records since it was assigned. A partition that
// makes no progress, and one that is not read, because it is halted, waits or stands by, is
// measured about every 5 seconds: its lag grows.
type PartitionStats struct {
	Partition Partition
	State     string // as in Health; READY while it works
	// Position is the offset of the next record to apply, as the ledger says: everything below
	// it is durable. It is -1 until the ledger was read.
	Position int64
	// End is the offset of the next record to come, the broker's high watermark as the client
	// heard of it last; -1 until it did.
	End int64
	// Lag is how many offsets there are from Position to End; -1 until both are known, and while
	// the partition is halted because its position is none of this log's. It is an
	// upper bound for the records: markers of transactions, aborted records and those that
	// compaction removed take up offsets, too.
	Lag int64
	// LagTime is the age of the oldest record that is not durable yet, by its timestamp; 0 if
	// Lag is. As long as that record was not handed over, or has no timestamp, it is the time
	// since this process first saw that something is there after Position: a lower bound. It is
	// never less than that time, because timestamps may be in the future. While the partition is
	// halted and Lag is -1, it is the time since then, unless the log is empty: something may wait.
	LagTime time.Duration

	Applied    int64 // took effect
	Duplicates int64 // had their effect before: Redelivered and Resent of Stats
	Conflicts  int64 // dead letters: a known key with other content
	Dead       int64 // all other dead letters
	Ignored    int64 // passed over on purpose

	// As the ledger says, since ever: record keys with a dead letter behind which later records
	// wait (on_failure.park), and how many records wait.
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

// Stats returns the counters and the partitions; metric packages poll it. It asks neither
// broker nor database. Each partition's numbers are of one moment.
func (c *Consumer) Stats() Stats {
	n := &c.process.Counters
	s := Stats{
		RecordStats: RecordStats{
			Applied: n.Applied.Load(), Redelivered: n.Redelivered.Load(), Resent: n.Resent.Load(),
			Conflicts: n.Conflicts.Load(), Dead: n.Dead.Load(), Waiting: n.Waiting.Load(), Ignored: n.Ignored.Load(),
		},
		Batches: n.Batches.Load(), Searches: n.Searches.Load(), Fenced: n.Fenced.Load(), ForeignFences: n.ForeignFences.Load(), Waits: n.Waits.Load(),
		KeyRaces: n.KeyRaces.Load(), Expired: c.expired.Load(), Partitions: c.partitions(),
	}
	if calls := c.process.Calls; calls != nil {
		s.Calls = calls.Stats()
	}
	return s
}
