package generator

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/output"
	"github.com/idemgen/idemgen/generator/sqlcode"
	"github.com/idemgen/idemgen/generator/state"
)

// byHandMark begins a line of a migration of the team's own; the table or table.column
// that it brings to what the spec says follows.
const byHandMark = "-- idemgen:by-hand "

// ledger is what the migrations folder holds.
type ledger struct {
	last   int               // highest number of a file
	byHand map[string]string // what a file not yet recorded says it has changed -> the file
	mixed  bool              // idemgen did not write all files of the folder
}

var migrationName = regexp.MustCompile(`^([0-9]{1,9})_(.+)\.sql$`)

// readLedger reads the migrations folder and compares it with the state.
func (u *unit) readLedger() (ledger, error) {
	l := ledger{byHand: map[string]string{}}
	recorded := map[string]string{}
	if u.old != nil {
		for _, m := range u.old.Migrations {
			recorded[m.Name] = m.Sum
		}
	}
	entries, err := u.folder.List(u.service.Migrations.Dir)
	if err != nil {
		return l, err
	}
	var errs []error
	for _, e := range entries {
		l.mixed = l.mixed || !isRecorded(recorded, e.Name())
		parts := migrationName.FindStringSubmatch(e.Name())
		if parts == nil || e.IsDir() {
			continue
		}
		number, _ := strconv.Atoi(parts[1]) // at most nine digits
		l.last = max(l.last, number)
		content, err := u.folder.Read(path.Join(u.service.Migrations.Dir, e.Name()))
		if err != nil {
			return l, err
		}
		sum, known := recorded[e.Name()]
		delete(recorded, e.Name())
		switch {
		case known && sum != state.ByHand && sum != state.Sum(content):
			errs = append(errs, fmt.Errorf("%s was changed after idemgen wrote it: restore it, it may have been applied; what it lacks belongs into a migration of your own", u.showMigration(e.Name())))
		case !known && output.Marked(content):
			errs = append(errs, u.notOurs(e.Name(), parts[2]))
		case !known:
			for line := range strings.Lines(string(content)) {
				if subject, ok := strings.CutPrefix(strings.TrimSpace(line), byHandMark); ok {
					l.byHand[strings.TrimSpace(subject)] = e.Name()
				}
			}
		}
	}
	return l, errors.Join(append(errs, u.lost(recorded))...)
}

// notOurs says why a migration that idemgen wrote is not in the state.
func (u *unit) notOurs(file, name string) error {
	if name != migrationBase(u.service.Consumer) && !strings.HasPrefix(name, "idem_") {
		return fmt.Errorf("%s is of another spec: give each its own folder with migrations.dir", u.showMigration(file))
	}
	return fmt.Errorf("%s is not recorded in %s: restore both from version control, or, if it was never applied, delete it and run generate again",
		u.showMigration(file), u.folder.Show(state.File))
}

// isRecorded reports whether idemgen wrote a migration of this name.
func isRecorded(recorded map[string]string, name string) bool {
	sum, known := recorded[name]
	return known && sum != state.ByHand
}

// lost names the recorded migrations that are not in the folder: without one, a new
// database would get other tables.
func (u *unit) lost(recorded map[string]string) error {
	if u.old == nil {
		return nil
	}
	var errs []error
	for _, m := range u.old.Migrations {
		if _, missing := recorded[m.Name]; missing {
			errs = append(errs, fmt.Errorf("%s is missing, but recorded in %s: restore it, or move it along if migrations.dir was changed",
				u.showMigration(m.Name), u.folder.Show(state.File)))
		}
	}
	return errors.Join(errs...)
}

func (u *unit) showMigration(file string) string {
	return u.folder.Show(path.Join(u.service.Migrations.Dir, file))
}

// migrations renders the migrations that are needed and records them. runtime are those of the
// runtime's own tables, by version.
func (u *unit) migrations(runtime []string) ([]output.File, error) {
	var files []output.File
	add := func(base string, content []byte) {
		u.ledger.last++
		name := fmt.Sprintf("%04d_%s.sql", u.ledger.last, base)
		u.next.Migrations = append(u.next.Migrations, state.Migration{Name: name, Sum: state.Sum(content)})
		files = append(files, output.File{
			Path: path.Join(u.service.Migrations.Dir, name), Policy: output.Ledger, Data: content,
		})
	}
	for i, text := range runtime {
		base := fmt.Sprintf("idem_%d", i+1)
		written := func(m state.Migration) bool { return strings.HasSuffix(m.Name, "_"+base+".sql") }
		if !slices.ContainsFunc(u.next.Migrations, written) {
			add(base, []byte("-- "+output.Marker+"\n"+text))
		}
	}
	if !u.additions.Empty() {
		text, err := additionsSQL(u.service.Consumer, u.additions)
		if err != nil {
			return nil, err
		}
		add(migrationBase(u.service.Consumer), []byte(text))
	}
	return files, nil
}

// additionsSQL is the migration for new tables and columns.
func additionsSQL(consumer string, added state.Additions) (string, error) {
	about := output.Marker + "\nConsumer " + consumer + ", new here:"
	var parts []string
	if len(added.Tables) > 0 {
		text, err := sqlcode.CreateTables(added.Tables)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
		for _, t := range added.Tables {
			about += "\n  table " + t.Name
		}
	}
	for _, n := range added.Columns {
		for _, c := range n.Columns {
			text, err := sqlcode.AddColumn(n.Table, c)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
			about += "\n  column " + n.Table.Name + "." + c.Name
		}
	}
	return sqlcode.Migration(about, parts...)
}

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
