package idemtype

// Result counts records by outcome.
type Result struct {
	Applied    int64 // took effect now
	Duplicates int64 // had taken effect before: redelivered by Kafka, or resent by the producer
	Conflicts  int64 // dead letters: known key, different content
	Dead       int64 // all other dead letters
	Waiting    int64 // parked behind a dead letter of their record key (on_failure.park)
	Ignored    int64 // skipped on purpose, as the spec says
}

// Plus returns the sum of two results.
func (r Result) Plus(o Result) Result {
	return Result{
		Applied: r.Applied + o.Applied, Duplicates: r.Duplicates + o.Duplicates,
		Conflicts: r.Conflicts + o.Conflicts, Dead: r.Dead + o.Dead, Waiting: r.Waiting + o.Waiting, Ignored: r.Ignored + o.Ignored,
	}
}
