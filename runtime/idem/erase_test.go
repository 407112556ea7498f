package idem_test

import (
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
)

// What dead letters keep of a record key is erased: of the one that is dead, of those that wait
// after it, and of those that are closed. Letters of other record keys stay.
func TestEraseTakesWhatLettersKeep(t *testing.T) {
	t.Parallel()
	db := database(t)
	_, w := parked(t, db, nil)
	apply(t, w, keyed(8, "b/nonsense x", "a/nonsense y"))
	by := operate.By{Operator: "ann", Reason: "GDPR-118"}
	by.DryRun = true
	if found, err := operate.Erase(t.Context(), db, "test", topic, "a", by); err != nil || len(found) != 5 {
		t.Fatalf("%d letters, %v", len(found), err)
	}
	by.DryRun = false
	want(t, "after a dry run", query(t, db, `SELECT count(*) FROM idem_dead_letter WHERE erased_by IS NOT NULL`), "0")
	if _, err := operate.Erase(t.Context(), db, "test", topic, "a", by); err != nil {
		t.Fatal(err)
	}
	want(t, "what is kept", query(t, db, `SELECT string_agg(offs::text, ' ' ORDER BY offs) FROM idem_dead_letter WHERE record IS NOT NULL`), "8")
	want(t, "reasons", query(t, db, `SELECT DISTINCT reason FROM idem_dead_letter WHERE erased_by IS NOT NULL AND offs = 1`), "database: erased by ann: GDPR-118")
}

// Letters that were erased are discarded, those that waited too; nothing of them is applied, and
// later records of the key go on.
func TestErasedLettersAreDiscarded(t *testing.T) {
	t.Parallel()
	db := database(t)
	_, w := parked(t, db, nil)
	before := table(t, db)
	if _, err := operate.Erase(t.Context(), db, "test", topic, "a", operate.By{Operator: "ann", Reason: "GDPR-118"}); err != nil {
		t.Fatal(err)
	}
	apply(t, w, nil)
	want(t, "open letters", query(t, db, `SELECT count(*) FROM idem_dead_letter WHERE state IN ('d', 'w')`), "0")
	want(t, "rows", table(t, db), before)
	want(t, "a later record", apply(t, w, keyed(8, "a/put 1 9")), idem.Result{Applied: 1})
}
