package idem_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
)

// A conflict's letter and its line in the log tell where the first copy of the key stands, so
// that a person can compare the two.
func TestConflictNamesThePlaceOfTheFirstCopy(t *testing.T) {
	t.Parallel()
	db := database(t)
	log, option := logged()
	c := service{options: []idem.Option{option}}.consumer(t, db)
	apply(t, own(t, c), records(0, "a: put 1 10", "a: put 1 99"))
	apply(t, ownPartition(t, c, 1), recordsOf(idem.Partition{Topic: topic, Number: 1}, 5, "a: put 1 98"))
	w := own(t, c)
	apply(t, w, records(2, "b: put 2 2"))
	apply(t, w, records(3, "b: put 2 3"))
	for offset, place := range map[string]string{
		"1": "in the same batch", "5": "in row 2 of the ledger of test.v1/0", "3": "in row 4 of the ledger of test.v1/0",
	} {
		reason := query(t, db, `SELECT string_agg(reason, ', ') FROM idem_dead_letter WHERE offs = `+offset)
		if !strings.HasSuffix(reason, "; the first copy is "+place) || !strings.Contains(log.String(), reason) {
			t.Errorf("offset %s: %s", offset, reason)
		}
	}
}
