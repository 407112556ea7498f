package generator

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// ledger is what the migrations folder holds.
type ledger struct {
	last   int      // highest number of a file
	byHand []handed // what files not yet recorded say they have changed
	mixed  bool     // idemgen did not write all files of the folder
}

// stranger is a file of the migrations folder that nothing is recorded of.
type stranger struct {
	name, base string // base is what is behind the number
	content    []byte
}

// readLedger reads the migrations folder of a spec and compares it with the state.
func readLedger(s *source, old *state.State) (ledger, error) { return ledgerReader{s, old}.read() }

// ledgerReader reads the migrations of a spec, and refuses those that are not as they were.
type ledgerReader struct {
	*source
	old *state.State // nil at the first run
}

func (u ledgerReader) read() (ledger, error) {
	var l ledger
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
	var strangers []stranger
	numbers := map[int]string{} // the file of each number
	for _, e := range entries {
		l.mixed = l.mixed || !isRecorded(recorded, e.Name())
		number, base, down, ok := formatOf(u.service).Read(e.Name())
		sum, known := recorded[e.Name()]
		if e.IsDir() || !ok && !known && path.Ext(e.Name()) != ".sql" {
			continue
		}
		l.last = max(l.last, number)
		content, err := u.folder.Read(path.Join(u.service.Migrations.Dir, e.Name()))
		if err != nil {
			return l, err
		}
		delete(recorded, e.Name())
		if other := numbers[number]; other != "" && !down {
			errs = append(errs, u.sameNumber(other, e.Name()))
		} else if !down && (ok || known) {
			numbers[number] = e.Name()
		}
		switch {
		case known && sum != state.ByHand:
			errs = append(errs, u.unchanged(e.Name(), sum, content))
		case !known && (output.Marked(content) || !ok):
			strangers = append(strangers, stranger{e.Name(), base, content})
		case !known && !down:
			l.byHand = append(l.byHand, handedBy(e.Name(), content)...)
		}
	}
	errs = append(errs, u.strange(strangers, recorded)...)
	return l, errors.Join(append(errs, u.unknownNames(l.byHand), u.lost(recorded))...)
}

// strange says what the files are that idemgen wrote, and that are not in the state under their
// names. What it finds under another name it takes out of missing.
func (u ledgerReader) strange(files []stranger, missing map[string]string) (errs []error) {
	var others, unrecorded []error
	for _, f := range files {
		sum := state.Sum(f.content)
		was := ""
		for name, recorded := range missing {
			if recorded == sum && (was == "" || name < was) {
				was = name
			}
		}
		switch {
		case was != "":
			delete(missing, was)
			errs = append(errs, fmt.Errorf("%s was renamed: %s has it as %s, and so have the databases where it was applied; give it that name again",
				u.showMigration(f.name), u.folder.Show(state.File), was))
		case f.base != "" && u.ofAnother(f.base):
			others = append(others, fmt.Errorf("%s is of another spec: give each its own folder with migrations.dir", u.showMigration(f.name)))
		case f.base != "":
			unrecorded = append(unrecorded, u.notOurs(f.name))
		}
	}
	if len(others) > 0 { // then the other files may be those of that spec, too
		return append(errs, others...)
	}
	return append(errs, unrecorded...)
}

// oneBranch is the way on after two branches have both appended.
const oneBranch = "keep idem.state.yaml and the migrations of the branch that was merged first, delete what the other one appended, " +
	"and run generate again: it appends what the merged spec still needs"

// unchanged refuses a migration that is not as idemgen wrote it.
func (u ledgerReader) unchanged(file, sum string, content []byte) error {
	written := sqlcode.WrittenAs(file, string(content))
	switch {
	case syntax.Unmerged(content) > 0:
		return fmt.Errorf("%s:%d: this looks like an unresolved merge of two branches that both appended a migration: %s", u.showMigration(file), syntax.Unmerged(content), oneBranch)
	case sum != state.Sum(content):
		return fmt.Errorf("%s was changed after idemgen wrote it: restore it, it may have been applied; what it lacks belongs in a migration of your own", u.showMigration(file))
	case written != u.service.Migrations.Format:
		return fmt.Errorf("%s has the format %s, and %s says %s: idemgen writes no migration again. Keep the format; or, if the migrations were never applied anywhere, delete what idemgen wrote in %s and %s, and run generate again",
			u.showMigration(file), written, u.Path, u.service.Migrations.Format, u.folder.Show(u.service.Migrations.Dir), u.folder.Show(state.File))
	}
	return nil
}

// sameNumber refuses two migrations of one number: in which order they are applied, nobody says.
func (u ledgerReader) sameNumber(a, b string) error {
	return fmt.Errorf("%s and %s have the same number: if the one that was not applied anywhere is yours, give it the next number; if two branches have both appended, %s",
		u.showMigration(a), u.showMigration(b), oneBranch)
}

// ofAnother reports whether the name of a migration that idemgen wrote is one of another spec.
func (u ledgerReader) ofAnother(name string) bool {
	base := migrationBase(u.service.Consumer)
	return name != base && !strings.HasPrefix(name, base+"_") && !strings.HasPrefix(name, "idem_")
}

// notOurs says why a migration that idemgen wrote is not in the state.
func (u ledgerReader) notOurs(file string) error {
	return fmt.Errorf("%s is not recorded in %s: restore both from version control, or, if it was never applied, delete it and run generate again; if two branches have both appended, %s",
		u.showMigration(file), u.folder.Show(state.File), oneBranch)
}

// isRecorded reports whether idemgen wrote a migration of this name.
func isRecorded(recorded map[string]string, name string) bool {
	sum, known := recorded[name]
	return known && sum != state.ByHand
}

// lost names the recorded migrations that are not in the folder: without one, a new
// database would get other tables.
func (u ledgerReader) lost(recorded map[string]string) error {
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

func (u ledgerReader) showMigration(file string) string {
	return u.folder.Show(path.Join(u.service.Migrations.Dir, file))
}

// byHandMark begins a line of a migration of the team's own; the table or table.column
// that it brings to what the spec says follows.
const byHandMark = "-- idemgen:by-hand "

// handed is such a line.
type handed struct {
	subject string
	file    string
	line    int
}

// handedBy returns the lines of a migration that say what it changes.
func handedBy(file string, content []byte) (all []handed) {
	line := 0
	for text := range strings.Lines(string(content)) {
		line++
		if subject, ok := strings.CutPrefix(strings.TrimSpace(text)+" ", byHandMark); ok {
			all = append(all, handed{strings.TrimSpace(subject), file, line})
		}
	}
	return all
}

// unknownNames refuses lines that name nothing: what they were to say would be lost.
func (u ledgerReader) unknownNames(lines []handed) error {
	if len(lines) == 0 {
		return nil
	}
	known := u.subjects()
	var errs []error
	for _, h := range lines {
		if !slices.Contains(known, h.subject) {
			errs = append(errs, fmt.Errorf("%s:%d: %q names no table and no column that %s has or had: %s", u.showMigration(h.file), h.line,
				strings.TrimSpace(byHandMark+h.subject), u.Path, cmp.Or(syntax.DidYouMean(h.subject, known), "write table, or table.column, by their names in the spec")))
		}
	}
	return errors.Join(errs...)
}

// subjects are all that a line may name: the tables and columns of the spec and of the state, and
// what changes between them.
func (u ledgerReader) subjects() (all []string) {
	for _, t := range u.parsed.Tables {
		all = append(all, t.Name.Value)
		for _, c := range t.Columns {
			all = append(all, t.Name.Value+"."+c.Name.Value)
		}
	}
	if u.old != nil {
		for _, t := range u.old.Tables {
			all = append(all, t.Name)
			for _, c := range t.Columns {
				all = append(all, t.Name+"."+c.Name)
			}
		}
	}
	for _, c := range state.TableChanges(u.old, u.service) {
		all = append(all, c.Subject())
	}
	return all
}
