package generator

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
)

// A later version of the runtime's own tables is one more migration, behind all that are there;
// those that a service has are not written again.
func TestALaterVersionOfTheRuntimesTablesIsAppended(t *testing.T) {
	written := []state.Migration{{Name: "0001_idem_core_1.sql"}, {Name: "0002_orders.sql"}, {Name: "0003_mine.sql", Sum: state.ByHand}}
	s := &source{service: &model.Service{Consumer: "orders", Migrations: model.Migrations{Dir: "migrations"}}}
	h := &history{next: &state.State{Migrations: written}, ledger: ledger{last: 3}}
	files, err := migrations(s, h, []sqlcode.RuntimePart{{Name: "core", Migrations: []string{"first\n", "second\n", "third\n"}}, {Name: "keys", Migrations: []string{"none\n"}}})
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for i, want := range []struct{ path, text string }{
		{"migrations/0004_idem_core_2.sql", "second\n"},
		{"migrations/0005_idem_core_3.sql", "third\n"},
	} {
		if files[i].Path != want.path || string(files[i].Data) != want.text {
			t.Errorf("%s: %q", files[i].Path, files[i].Data)
		}
	}
	if got := h.next.Migrations[len(written):]; len(got) != 2 || got[0].Name != "0004_idem_core_2.sql" || got[1].Sum != state.Sum(files[1].Data) {
		t.Errorf("recorded: %v", got)
	}
}
