package deadletter_test

import (
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// What dead letters keep of a record key is erased: of the one that is dead, of those that wait
// after it, and of those that are closed. Letters of other record keys stay.
func TestEraseTakesWhatLettersKeep(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	_, w := parked(t, db, nil)
	rig.Apply(t, w, rig.Keyed(8, "b/nonsense x", "a/nonsense y"))
	by := operate.By{Operator: "ann", Reason: "GDPR-118"}
	by.DryRun = true
	if found, err := operate.Erase(t.Context(), db, "test", rig.Topic, "a", by); err != nil || len(found) != 5 {
		t.Fatalf("%d letters, %v", len(found), err)
	}
	by.DryRun = false
	rig.Want(t, "after a dry run", rig.Query(t, db, `SELECT count(*) FROM idem_dead_letter WHERE erased_by IS NOT NULL`), "0")
	if _, err := operate.Erase(t.Context(), db, "test", rig.Topic, "a", by); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "what is kept", rig.Query(t, db, `SELECT string_agg(offs::text, ' ' ORDER BY offs) FROM idem_dead_letter WHERE record IS NOT NULL`), "8")
	rig.Want(t, "reasons", rig.Query(t, db, `SELECT DISTINCT reason FROM idem_dead_letter WHERE erased_by IS NOT NULL AND offs = 1`), "database: erased by ann: GDPR-118")
}

// Letters that were erased are discarded, those that waited too; nothing of them is applied, and
// later records of the key go on.
func TestErasedLettersAreDiscarded(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	_, w := parked(t, db, nil)
	before := rig.Table(t, db)
	if _, err := operate.Erase(t.Context(), db, "test", rig.Topic, "a", operate.By{Operator: "ann", Reason: "GDPR-118"}); err != nil {
		t.Fatal(err)
	}
	rig.Apply(t, w, nil)
	rig.Want(t, "open letters", rig.Query(t, db, `SELECT count(*) FROM idem_dead_letter WHERE state IN ('d', 'w')`), "0")
	rig.Want(t, "rows", rig.Table(t, db), before)
	rig.Want(t, "a later record", rig.Apply(t, w, rig.Keyed(8, "a/put 1 9")), idem.Result{Applied: 1})
}
