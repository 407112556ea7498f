package idemtype

// Result counts what became of records.
type Result struct {
	Applied    int64 // took effect now
	Duplicates int64 // had their effect before: redelivered by Kafka, or sent again by the producer
	Conflicts  int64 // dead letters: a known key with other content
	Dead       int64 // all other dead letters
	Waiting    int64 // wait behind a dead letter of their record key (on_failure.park)
	Ignored    int64 // passed over on purpose, as the spec says
}

// Plus is the sum of two results.
func (r Result) Plus(o Result) Result {
	return Result{
		Applied: r.Applied + o.Applied, Duplicates: r.Duplicates + o.Duplicates,
		Conflicts: r.Conflicts + o.Conflicts, Dead: r.Dead + o.Dead, Waiting: r.Waiting + o.Waiting, Ignored: r.Ignored + o.Ignored,
	}
}
