package generator

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/idemgen/idemgen/generator/state"
	"github.com/idemgen/idemgen/schema"
)

// remember reads what earlier runs left and finds out what a migration has to add. What
// no migration is written for becomes E607.
func (u *unit) remember() error {
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
	u.service.KeyDef = u.next.KeyDef
	var refused []state.Refusal
	u.additions, refused = state.Diff(u.old, u.service)
	for _, r := range refused {
		if file := u.ledger.byHand[r.Subject()]; file != "" {
			u.recordByHand(file)
			continue
		}
		u.problems.Add(u.position(r), "E607", r.Message, fmt.Sprintf(
			"%s in a migration of your own that has the line %q, then run generate again", r.Advice, byHandMark+r.Subject()))
	}
	return nil
}

// sameService refuses a state that speaks of another service.
func (u *unit) sameService(name string) error {
	if u.old.Source != u.service.Source {
		if _, err := u.folder.Read(u.old.Source); err == nil { // else the spec was renamed
			return fmt.Errorf("%s is of %s, which is in the same folder as %s: a folder is one Go package, give each spec a folder of its own",
				name, u.folder.Show(u.old.Source), u.Path)
		}
	}
	if u.old.Consumer != u.service.Consumer {
		return fmt.Errorf("%s is of consumer %q, %s says %q: under a new name the consumer has an empty ledger, reads every topic from "+
			"start_from and applies again what the old name has applied; if that is wanted, change the name in %s too",
			name, u.old.Consumer, u.Path, u.service.Consumer, name)
	}
	return nil
}

// recordByHand notes a migration of the team's own once.
func (u *unit) recordByHand(file string) {
	m := state.Migration{Name: file, Sum: state.ByHand}
	if !slices.Contains(u.next.Migrations, m) {
		u.next.Migrations = append(u.next.Migrations, m)
	}
}

// position is where the spec speaks of what is refused: the column, else its table, else
// the first line.
func (u *unit) position(r state.Refusal) schema.Pos {
	at := schema.Pos{}
	for _, t := range u.parsed.Tables {
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
