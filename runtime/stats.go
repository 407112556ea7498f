package idem

import "sync/atomic"

// Stats is a snapshot of counters that only grow, since the consumer was constructed.
// Applied, Redelivered, Resent, Conflicts, Dead and Ignored count records and add up to
// what was delivered.
type Stats struct {
	Applied     int64 // took effect
	Keyless     int64 // of Applied: events that lack their key's header and count by their offset (missing: offset)
	Redelivered int64 // duplicates: Kafka delivered an offset again
	Resent      int64 // duplicates: the producer sent the event again
	Conflicts   int64 // dead letters: a known key with other content
	Dead        int64 // all other dead letters
	Ignored     int64 // passed over on purpose
	Batches     int64 // transactions
	// Splits counts failures of a batch because of data, each of which was searched for one
	// record: equal to the records that the database or a handler refused, or before which a
	// partition halted. A greater number
	// means that statements of one batch got in each other's way: please report it.
	Splits int64
	Fenced int64 // batches refused because another owner had appended
	// ForeignFences counts how often another owner's fence ended the memory of a partition
	// that is still assigned here. More than one now and then means that two deployments
	// have one consumer name.
	ForeignFences int64
	Waits         int64 // batches tried again after an outage, a deadlock or a handler's error
	// KeyRaces counts batches built and sent again because another partition had claimed one
	// of their keys meanwhile, or because the generation of keys had been sealed.
	KeyRaces int64
	Expired  int64 // dead letters closed because on_failure.keep was over
}

type counters struct {
	applied, keyless, redelivered, resent, conflicts, dead, ignored, batches, splits, fenced, foreignFences, waits, keyRaces, expired atomic.Int64
}

func (c *counters) add(r Result) {
	c.applied.Add(int64(r.Applied))
	c.keyless.Add(int64(r.Keyless))
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
		Applied: s.applied.Load(), Keyless: s.keyless.Load(), Redelivered: s.redelivered.Load(), Resent: s.resent.Load(),
		Conflicts: s.conflicts.Load(), Dead: s.dead.Load(), Ignored: s.ignored.Load(),
		Batches: s.batches.Load(), Splits: s.splits.Load(), Fenced: s.fenced.Load(), ForeignFences: s.foreignFences.Load(), Waits: s.waits.Load(),
		KeyRaces: s.keyRaces.Load(), Expired: s.expired.Load(),
	}
}
