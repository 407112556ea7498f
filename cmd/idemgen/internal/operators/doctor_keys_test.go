package operators

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// The keys of each sealed generation are counted: one that has lost some is named.
func TestDoctorCountsTheKeys(t *testing.T) {
	t.Parallel()
	db := aShop(t)
	for range 2 {
		idemtest.Exec(t, db, `SELECT idem_keys_open('order-projector', '8 days');
INSERT INTO idem_keys SELECT gen, gen_random_uuid(), 1, 1, 1, 1 FROM idem_key_gen, generate_series(1, 10) WHERE sealed_at IS NULL;
SELECT idem_keys_seal(consumer, gen, idem_keys_prepare(), keep) FROM idem_key_gen WHERE sealed_at IS NULL;
SELECT idem_keys_count(consumer, gen) FROM idem_key_gen WHERE sealed_at IS NOT NULL AND keys IS NULL`)
	}
	about := func(lines []string) []string {
		return slices.DeleteFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "keys: ") })
	}
	wantLines(t, about(checked(t, "ok", at(db))), "keys: 2 sealed generations of keys, with all that were counted when they were sealed")
	idemtest.Exec(t, db, `DELETE FROM idem_keys_2 WHERE key IN (SELECT key FROM idem_keys_2 LIMIT 3)`)
	wantLines(t, about(checked(t, "FAIL", at(db))), "keys: generation 2 has 7 of its 10 keys, in table idem_keys_2: a restore lost the others, and duplicates of their events would take effect again")
	wantLines(t, about(checked(t, "ok", at(db))), "keys: 1 sealed generation of keys, with all that were counted when they were sealed")
}
