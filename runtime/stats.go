package idem

import "sync/atomic"

// Stats is a snapshot of counters that only grow, since the consumer was constructed.
// Applied, Redelivered, Resent, Conflicts, Dead and Ignored count records and add up to
// what was delivered.
type Stats struct {
	Applied     int64 // took effect
	Redelivered int64 // duplicates: Kafka delivered an offset again
	Resent      int64 // duplicates: the producer sent the event again
	Conflicts   int64 // dead letters: a known key with other content
	Dead        int64 // all other dead letters
	Ignored     int64 // passed over on purpose
	Batches     int64 // transactions
	// Splits counts failures of a batch because of data, each of which was searched for one
	// record: equal to the records that the database or a handler refused. A greater number
	// means that statements of one batch got in each other's way: please report it.
	Splits int64
	Fenced int64 // batches refused because another owner had appended
	Waits  int64 // batches tried again after an outage, a deadlock or a handler's error
}

type counters struct {
	applied, redelivered, resent, conflicts, dead, ignored, batches, splits, fenced, waits atomic.Int64
}

func (c *counters) add(r Result) {
	c.applied.Add(int64(r.Applied))
	c.resent.Add(int64(r.Duplicates))
	c.conflicts.Add(int64(r.Conflicts))
	c.dead.Add(int64(r.Dead))
	c.ignored.Add(int64(r.Ignored))
	c.batches.Add(1)
}

// Stats returns the counters; metric packages poll it.
func (c *Consumer) Stats() Stats {
	s := &c.stats
	return Stats{
		Applied: s.applied.Load(), Redelivered: s.redelivered.Load(), Resent: s.resent.Load(),
		Conflicts: s.conflicts.Load(), Dead: s.dead.Load(), Ignored: s.ignored.Load(),
		Batches: s.batches.Load(), Splits: s.splits.Load(), Fenced: s.fenced.Load(), Waits: s.waits.Load(),
	}
}
