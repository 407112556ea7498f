package generator

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
)

// migrations renders the migrations that are needed, those of the runtime's own tables first, and
// records them in the next state.
func migrations(s *source, h *history, runtime []sqlcode.RuntimePart) ([]output.File, error) {
	var files []output.File
	add := func(made []sqlcode.MigrationFile) {
		for _, f := range made {
			h.next.Migrations = append(h.next.Migrations, state.Migration{Name: f.Name, Sum: state.Sum([]byte(f.Text))})
			files = append(files, output.File{
				Path: path.Join(s.service.Migrations.Dir, f.Name), Policy: output.Ledger, Data: []byte(f.Text),
			})
		}
	}
	format := formatOf(s.service)
	needed := map[string]bool{"core": true, "keys": s.service.SharesKeys(), "effects": s.service.HasEffects()}
	s.service.Schema = map[string]int{}
	for _, p := range runtime {
		if !needed[p.Name] && !h.written(format, p.Base(1)) { // what it needed once it may have to keep up
			continue
		}
		s.service.Schema[p.Name] = len(p.Migrations)
		for i, text := range p.Migrations {
			if base := p.Base(i + 1); !h.written(format, base) {
				h.ledger.last++
				add(format.Runtime(h.ledger.last, base, text))
			}
		}
	}
	m, err := migration(s.service.Consumer, h.changes)
	if m != nil {
		h.ledger.last++
		add(format.Files(h.ledger.last, migrationBase(s.service.Consumer), *m))
	}
	return files, err
}

// written reports whether there is a migration of this name.
func (h *history) written(format sqlcode.Format, base string) bool {
	return slices.ContainsFunc(h.next.Migrations, func(m state.Migration) bool {
		_, name, _, ok := format.Read(m.Name)
		return ok && name == base
	})
}

func formatOf(s *model.Service) sqlcode.Format { return sqlcode.FormatOf(s.Migrations.Format) }

// migrationBase is the name of a consumer's migrations, without number and ending.
func migrationBase(consumer string) string { return strings.ReplaceAll(consumer, "-", "_") }

// oneFolderEach refuses one migrations folder for two specs: their numbers would clash.
func oneFolderEach(sources []*source) error {
	first := map[string]*source{}
	var errs []error
	for _, u := range sources {
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

// altering turns the changes of the tables into one migration.
type altering struct {
	sqlcode.Migration
	err error // the first one
}

// migration returns the migration for the changes; nil if there are none.
func migration(consumer string, changes []state.TableChange) (*sqlcode.Migration, error) {
	a := &altering{}
	a.tables(changes)
	a.columns(changes)
	if len(a.Parts) == 0 {
		return nil, a.err
	}
	a.About = append([]string{"Consumer " + consumer + ", new here:"}, a.About...)
	return &a.Migration, a.err
}

// made adds statements, and what they make.
func (a *altering) made(statements string, err error, names ...string) {
	if a.err == nil {
		a.err = err
	}
	for _, name := range names {
		a.About = append(a.About, "  "+name)
	}
	a.Parts = append(a.Parts, statements)
}

func (a *altering) tables(changes []state.TableChange) {
	var tables []*model.Table
	var names []string
	for _, c := range changes {
		if c.Kind == state.NewTable {
			tables = append(tables, c.Table)
			names = append(names, "table "+c.Table.Name)
		}
	}
	if len(tables) > 0 {
		text, err := sqlcode.CreateTables(tables)
		a.made(text, err, names...)
		a.OldTables = a.OldTables || referToOthers(tables)
	}
}

// referToOthers reports whether a new table has a foreign key to an old one, which is locked for
// that.
func referToOthers(tables []*model.Table) bool {
	return slices.ContainsFunc(tables, func(t *model.Table) bool {
		return slices.ContainsFunc(t.ForeignKeys, func(fk model.ForeignKey) bool { return !slices.Contains(tables, fk.References) })
	})
}

// columns adds columns.
func (a *altering) columns(changes []state.TableChange) {
	for _, c := range changes {
		if c.Kind == state.NewColumn {
			text, err := sqlcode.AddColumn(c.Table, c.Column)
			a.made(text, err, "column "+c.Subject())
			a.OldTables = true
		}
	}
}
