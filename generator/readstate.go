package generator

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/state"
	"github.com/idemgen/idemgen/schema"
)

// readState reads what earlier runs left and finds out what a migration has to add. What
// no migration is written for becomes E607.
func (u *unit) readState() error {
	if u.service == nil {
		return nil
	}
	name := u.folder.Show(state.File)
	data, err := u.folder.Read(state.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if u.old, err = state.Read(name, data); err != nil {
			return err
		}
		if err := u.sameService(name); err != nil {
			return err
		}
	}
	if u.ledger, err = u.readLedger(); err != nil {
		return err
	}
	u.next = state.Next(u.old, u.service)
	u.service.Identity = model.Identity{Writes: u.next.Identity, Knows: slices.Concat(u.next.Knows, u.next.Ahead)}
	var refused []state.Refusal
	u.additions, refused = state.Diff(u.old, u.service)
	u.additions = u.additions.Without(u.byHand)
	for _, r := range refused {
		if !u.byHand(r.Subject()) {
			u.problems.Add(u.position(r), "E607", r.Message, u.wayOut(r))
		}
	}
	u.keyChanges()
	u.recordChanges()
	return nil
}

// wayOut says how a change is made that idemgen writes no migration for.
func (u *unit) wayOut(r state.Refusal) string {
	renamed := ""
	if r.Gone && r.Column == "" {
		renamed = " (after a rename also a line for the new table)"
	} else if r.Gone {
		renamed = " (after a rename also a line for the new column)"
	}
	dir := u.folder.Show(u.service.Migrations.Dir)
	if u.ledger.mixed {
		dir = "what idemgen wrote in " + dir
	}
	return fmt.Sprintf("%s in a migration of your own that has the line %q%s, then run generate again; if the migrations were never applied anywhere, delete %s and %s and run generate again",
		r.Advice, byHandMark+r.Subject(), renamed, dir, u.folder.Show(state.File))
}

// sameService refuses a state that speaks of another service.
func (u *unit) sameService(name string) error {
	if u.old.Source != u.service.Source {
		if _, err := u.folder.Read(u.old.Source); err == nil { // else the spec was renamed
			return fmt.Errorf("%s is of %s, which is in the same folder as %s: a folder is one Go package, give each spec a folder of its own",
				name, u.folder.Show(u.old.Source), u.Path)
		}
	}
	if u.old.Consumer != u.service.Ledger() {
		return fmt.Errorf("%s is of consumer %q, %s says %q: under a new name the consumer has an empty ledger, reads every topic from "+
			"start_from and applies again what the old name has applied; to go on with its ledger, write renamed_from: %s; if the new one is wanted, change the name in %s too",
			name, u.old.Consumer, u.Path, u.service.Ledger(), u.old.Consumer, name)
	}
	return nil
}

// byHand reports whether a migration of the team's own says that it makes the change, and
// notes that migration once.
func (u *unit) byHand(subject string) bool {
	file := u.ledger.byHand[subject]
	if m := (state.Migration{Name: file, Sum: state.ByHand}); file != "" && !slices.Contains(u.next.Migrations, m) {
		u.next.Migrations = append(u.next.Migrations, m)
	}
	return file != ""
}

// position is where the spec speaks of what is refused: the column, else its table, else
// the key "tables", else the first line.
func (u *unit) position(r state.Refusal) schema.Pos {
	at := u.parsed.TablesKey
	for _, t := range tablesOf(u.parsed) {
		if t.Name.Value != r.Table {
			continue
		}
		at = t.Name.Pos
		for _, c := range t.Columns {
			if c.Name.Value == r.Column {
				at = c.Name.Pos
			}
		}
	}
	return cmp.Or(at, schema.Pos{Line: 1, Col: 1, Width: 1})
}

// tablesOf are those of the spec, then those of libraries.
func tablesOf(spec *schema.Spec) (all []*schema.Table) {
	for _, f := range spec.Reached() {
		all = append(all, f.Tables...)
	}
	return all
}
