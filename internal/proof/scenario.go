package proof

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Scenarios are the ways in which the tests of a service's topics deliver records, by the names of
// their subtests. Package idemtest plays them all; generated tests list them.
func Scenarios(s *model.Service) (names []string) {
	for _, of := range scenarios {
		if slices.ContainsFunc(s.Topics, func(t *model.Topic) bool { return slices.ContainsFunc(t.Events, of.some) }) {
			names = append(names, of.names...)
		}
	}
	return names
}

var scenarios = []struct {
	some  func(*model.Event) bool
	names []string
}{
	{func(e *model.Event) bool { return e.Handle }, []string{"rolled back, then applied", "every handler changes a row"}},
	{func(*model.Event) bool { return true }, []string{
		"one by one", "one batch", "random batches", "redelivered", "repeated in the batch", "repeated in later batches",
		"on two partitions at once", "two owners at once", "zombie", "ledger lost its tail", "crash at every step", "reply lost",
		"poison in the middle", "values that cannot be unpacked", "key with other content", "repaired and replayed", "tombstone",
	}},
	{func(e *model.Event) bool { return e.Effect != nil }, []string{"calls cut off", "lease lost while a call runs"}},
	{func(e *model.Event) bool { return e.Effect != nil && e.Effect.Lock != nil }, []string{"calls under one lock", "lock lost while a call runs"}},
}
