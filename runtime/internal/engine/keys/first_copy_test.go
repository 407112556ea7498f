package keys_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// A conflict's letter and its line in the log tell where the first copy of the key stands, so
// that a person can compare the two.
func TestConflictNamesThePlaceOfTheFirstCopy(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "a: put 1 10", "a: put 1 99"))
	rig.Apply(t, rig.OwnPartition(t, c, 1), rig.RecordsOf(idem.Partition{Topic: rig.Topic, Number: 1}, 5, "a: put 1 98"))
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(2, "b: put 2 2"))
	rig.Apply(t, w, rig.Records(3, "b: put 2 3"))
	for offset, place := range map[string]string{
		"1": "in the same batch", "5": "in row 2 of the ledger of test.v1/0", "3": "in row 4 of the ledger of test.v1/0",
	} {
		reason := rig.Query(t, db, `SELECT string_agg(reason, ', ') FROM idem_dead_letter WHERE offs = `+offset)
		if !strings.HasSuffix(reason, "; the first copy is "+place) || !strings.Contains(log.String(), reason) {
			t.Errorf("offset %s: %s", offset, reason)
		}
	}
}
