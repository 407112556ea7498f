package generator

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/gocode"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/proof"
)

// render renders every Owned and Ledger file of the spec.
func (u *unit) render() error {
	migrations, err := u.migrations(sqlcode.RuntimeParts())
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	code, err := gocode.Render(u.service, gocode.SQL{Step: sqlcode.Step, Table: sqlcode.TableName}, gocode.Tests{
		Digest: u.schemas.Digest(u.Content), Cases: proof.CasesFolder,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	for _, f := range code {
		u.files = append(u.files, output.File{Path: f.Path, Policy: output.Owned, Data: f.Content})
	}
	if err := u.externalTables(); err != nil {
		return err
	}
	u.files = append(u.files, migrations...)
	if u.namesSchemas() {
		u.files = append(u.files, editorFiles()...)
	}
	u.files = append(u.files, output.File{Path: state.File, Policy: output.Owned, Data: u.next.Render()})
	return nil
}
