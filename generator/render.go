package generator

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/gocode"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/proof"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// render renders the files of a spec that only idemgen writes.
func render(s *source, h *history) (files []output.File, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", s.Path, err)
		}
	}()
	migrations, err := migrations(s, h, sqlcode.RuntimeParts())
	if err != nil {
		return nil, err
	}
	code, err := gocode.Render(s.service, gocode.SQL{Step: sqlcode.Step, Table: sqlcode.TableName}, gocode.Tests{
		Digest: s.schemas.Digest(s.Content), Cases: proof.CasesFolder, Scenarios: proof.Scenarios(s.service),
	})
	if err != nil {
		return nil, err
	}
	for _, f := range code {
		files = append(files, output.File{Path: f.Path, Policy: output.Owned, Data: f.Content})
	}
	external, err := externalTables(s)
	if err != nil {
		return nil, err
	}
	files = slices.Concat(files, external, migrations)
	if s.namesSchemas() {
		files = append(files, editorFiles()...)
	}
	return append(files, output.File{Path: state.File, Policy: output.Owned, Data: h.next.Render()}), nil
}

// externalTables renders what makes the tables of others in the databases of tests, and the type
// citext there.
func externalTables(s *source) ([]output.File, error) {
	tables := slices.DeleteFunc(slices.Clone(s.service.Tables), func(t *model.Table) bool { return !t.External })
	made := sqlcode.CreateExtension(s.service.Tables)
	if len(tables) == 0 && made == "" {
		return nil, nil
	}
	known := func(c *model.Column) []string { // the texts of the spec, then those of the cases
		texts := s.service.TextsOf(c)
		for _, of := range s.cases {
			texts = append(texts, of.script.Texts[c]...)
		}
		return texts
	}
	if i := slices.IndexFunc(tables, isOutbox); i >= 0 {
		headers, err := sqlcode.OutboxHeaders(tables[i])
		if err != nil {
			return nil, err
		}
		made += outbox.Migration(outbox.ByRelay) + headers
		tables = slices.Delete(tables, i, i+1)
	}
	sql, err := "", error(nil)
	if len(tables) > 0 {
		sql, err = sqlcode.ExternalTables(tables, known)
	}
	return []output.File{{
		Path: gocode.ExternalFile, Policy: output.Owned,
		Data: []byte("-- " + output.Marker + "\n-- Tables that the migrations do not make, as the spec has them, for the databases of tests.\n" + made + sql),
	}}, err
}

// isOutbox reports whether a table is that of package outbox. Its own migration makes it in tests,
// too: it has checks, a trigger, and columns that a relay needs and a spec does not name.
func isOutbox(t *model.Table) bool { return t.Schema == "" && t.InDatabase() == "idem_outbox" }
