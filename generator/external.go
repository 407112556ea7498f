package generator

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/gocode"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// externalTables renders what makes the tables of others in the databases of tests.
func (u *unit) externalTables() error {
	tables := slices.DeleteFunc(slices.Clone(u.service.Tables), func(t *model.Table) bool { return !t.External })
	if len(tables) == 0 {
		return nil
	}
	known := func(c *model.Column) []string { // the texts of the spec, then those of the cases
		texts := u.service.TextsOf(c)
		for _, of := range u.cases {
			texts = append(texts, of.script.Texts[c]...)
		}
		return texts
	}
	made := ""
	if i := slices.IndexFunc(tables, isOutbox); i >= 0 {
		headers, err := sqlcode.OutboxHeaders(tables[i])
		if err != nil {
			return fmt.Errorf("%s: %w", u.Path, err)
		}
		made = outbox.Migration(outbox.ByRelay) + headers
		tables = slices.Delete(tables, i, i+1)
	}
	sql, err := sqlcode.ExternalTables(tables, known)
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	u.files = append(u.files, output.File{
		Path: gocode.ExternalFile, Policy: output.Owned,
		Data: []byte("-- " + output.Marker + "\n-- Tables that the migrations do not make, as the spec has them, for the databases of tests.\n" + made + sql),
	})
	return nil
}

// isOutbox reports whether a table is that of package outbox. Its own migration makes it in tests,
// too: it has checks, a trigger, and columns that a relay needs and a spec does not name.
func isOutbox(t *model.Table) bool { return t.Schema == "" && t.InDatabase() == "idem_outbox" }
