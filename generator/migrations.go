package generator

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
)

// migrations renders the migrations that are needed and records them.
func (u *unit) migrations(runtime []sqlcode.RuntimePart) ([]output.File, error) {
	var files []output.File
	add := func(made []sqlcode.MigrationFile) {
		for _, f := range made {
			u.next.Migrations = append(u.next.Migrations, state.Migration{Name: f.Name, Sum: state.Sum([]byte(f.Text))})
			files = append(files, output.File{
				Path: path.Join(u.service.Migrations.Dir, f.Name), Policy: output.Ledger, Data: []byte(f.Text),
			})
		}
	}
	needed := map[string]bool{"core": true, "keys": u.service.SharesKeys(), "effects": u.service.HasEffects()}
	u.service.Schema = map[string]int{}
	for i := range runtime {
		p := &runtime[i]
		if !needed[p.Name] && !u.written(p.Base(1)) { // what it needed once it may have to keep up
			continue
		}
		u.service.Schema[p.Name] = len(p.Migrations)
		for i, text := range p.Migrations {
			if base := p.Base(i + 1); !u.written(base) {
				u.ledger.last++
				add(u.format().Runtime(u.ledger.last, base, text))
			}
		}
	}
	m, err := migration(u.service.Consumer, u.changes)
	if m != nil {
		u.ledger.last++
		add(u.format().Files(u.ledger.last, migrationBase(u.service.Consumer), *m))
	}
	return files, err
}

// written reports whether there is a migration of this name.
func (u *unit) written(base string) bool {
	return slices.ContainsFunc(u.next.Migrations, func(m state.Migration) bool {
		_, name, _, ok := u.format().Read(m.Name)
		return ok && name == base
	})
}

func (u *unit) format() sqlcode.Format { return sqlcode.FormatOf(u.service.Migrations.Format) }

// migrationBase is the name of a consumer's migrations, without number and ending.
func migrationBase(consumer string) string { return strings.ReplaceAll(consumer, "-", "_") }

// oneFolderEach refuses one migrations folder for two specs: their numbers would clash.
func oneFolderEach(units []*unit) error {
	first := map[string]*unit{}
	var errs []error
	for _, u := range units {
		if u.service == nil {
			continue
		}
		dir := u.folder.Abs(u.service.Migrations.Dir)
		if other := first[dir]; other != nil && other.folder.Abs(".") != u.folder.Abs(".") {
			errs = append(errs, fmt.Errorf("%s and %s both put their migrations into %s: give each its own folder with migrations.dir",
				other.Path, u.Path, u.folder.Show(u.service.Migrations.Dir)))
			continue
		}
		first[dir] = u
	}
	return errors.Join(errs...)
}
