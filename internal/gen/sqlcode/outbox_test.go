package sqlcode

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Each column of text of the outbox is a header that the table gets, but for those that every
// event has.
func TestHeadersOfTheOutbox(t *testing.T) {
	table := &model.Table{Name: "idem_outbox"}
	for _, name := range []string{"aggregatetype", "aggregateid", "type", "tenant", "trace"} {
		table.Columns = append(table.Columns, &model.Column{Name: name, Type: model.ColType{Kind: model.ColText}, Nullable: name == "trace"})
	}
	table.Columns = append(table.Columns, &model.Column{Name: "payload", Type: model.ColType{Kind: model.ColBytea}})
	const want = "ALTER TABLE idem_outbox ADD COLUMN IF NOT EXISTS tenant text NOT NULL;\nALTER TABLE idem_outbox ADD COLUMN IF NOT EXISTS trace text;\n"
	if got, err := OutboxHeaders(table); err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
