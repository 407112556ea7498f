package idem_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// coreFiles is a folder of the runtime's migrations that every service has.
func coreFiles(t *testing.T) string {
	t.Helper()
	dir := rig.RuntimeFiles(t)
	for _, part := range []string{"keys", "effects"} {
		if err := os.Remove(filepath.Join(dir, "idem_"+part+"_1.sql")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A service runs with the tables that it needs, and the commands ask for no others. One with an
// effect shares its database.
func TestTablesThatNobodyNeedsAreNotThere(t *testing.T) {
	t.Parallel()
	db := idemtest.Migrated(t, coreFiles(t), rig.TableFiles(t))
	without := func(s *wire.Service) {
		s.Consumer, s.Schema = "core", map[string]int{"core": 1}
		s.Topics[0].Window, s.Topics[0].Chain = 0, time.Hour
	}
	c := rig.Service{Edit: without}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Want(t, "result", rig.Apply(t, w, rig.Records(0, "@a: put 1 1", "nonsense x", "@a: put 1 1")), idem.Result{Applied: 1, Duplicates: 1, Dead: 1})
	if err := c.Upkeep(t.Context()); err != nil {
		t.Error(err)
	}
	for _, here := range []bool{true, false} {
		if a, err := operate.FindKey(t.Context(), db, "core", rig.Topic, -1, record.EventKey{Here: here}); err != nil || a.Call != nil {
			t.Errorf("%+v, %v", a, err)
		}
	}
	letters, _, err := operate.Meant(t.Context(), db, operate.Selection{Consumer: "core", Topic: rig.Topic}, "discard")
	if err != nil || len(letters) != 1 {
		t.Fatal(letters, err)
	}
	if _, err := operate.Open(t.Context(), db, operate.Name{Consumer: "core", Topic: rig.Topic}, 1); err != nil {
		t.Error(err)
	}
	by := operate.By{Operator: "ann", Reason: "a test"}
	if _, err := operate.Ask(t.Context(), db, letters[:1], "replay", nil, by); err != nil {
		t.Error(err)
	}
	rig.Apply(t, w, rig.Records(3, "put 2 2"))

	rig.RuntimeTables(t, db)
	var p rig.Provider
	other := p.Service(rig.Terms).Consumer(t, db)
	rig.Want(t, "result beside it", rig.Apply(t, rig.Own(t, other), rig.Records(0, "a: effect 1", "a: effect 1")), idem.Result{Applied: 1, Duplicates: 1})
	rig.Want(t, "result", rig.Apply(t, rig.Own(t, rig.Service{Edit: without}.Consumer(t, db)), rig.Records(4, "@a: put 1 1", "@b: put 4 4")), idem.Result{Applied: 1, Duplicates: 1})
}
