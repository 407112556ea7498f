package generator

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// history is what earlier runs left beside a spec, and what this run adds to it.
type history struct {
	old, next *state.State // old is nil at the first run
	ledger    ledger
	changes   []state.TableChange // those that a migration is written for
}

// readHistory reads what earlier runs left, and finds out what a migration has to add. What no
// migration is written for becomes E607.
func readHistory(s *source) (*history, error) {
	h := &history{}
	if s.service == nil {
		return h, nil
	}
	name := s.folder.Show(state.File)
	data, err := s.folder.Read(state.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return h, err
	default:
		if h.old, err = state.Read(name, data); err != nil {
			return h, err
		}
		if err := h.sameService(s, name); err != nil {
			return h, err
		}
	}
	if h.ledger, err = readLedger(s, h.old); err != nil {
		return h, err
	}
	h.next = state.Next(h.old, s.service)
	s.service.Identity = model.Identity{Writes: h.next.Identity, Knows: h.next.Knows}
	for _, c := range state.TableChanges(h.old, s.service) {
		switch {
		case h.byHand(c.Subject()):
		case c.Written():
			h.changes = append(h.changes, c)
		default:
			s.problems.Add(s.position(c), "E607", c.Text, h.wayOut(s, c))
		}
	}
	return h, nil
}

// sameService refuses a state that speaks of another service.
func (h *history) sameService(s *source, name string) error {
	if h.old.Source != s.service.Source {
		if _, err := s.folder.Read(h.old.Source); err == nil { // else the spec was renamed
			return fmt.Errorf("%s belongs to %s, which is in the same folder as %s: a folder is one Go package, so give each spec a folder of its own",
				name, s.folder.Show(h.old.Source), s.Path)
		}
	}
	if h.old.Consumer != s.service.Consumer {
		return fmt.Errorf("%s belongs to consumer %q, but %s names %q: under a new name the consumer has an empty ledger, reads every topic from "+
			"start_from, and applies again the events that the old name has applied; to continue with the old ledger, write %s again; to use the new name, also change it in %s",
			name, h.old.Consumer, s.Path, s.service.Consumer, h.old.Consumer, name)
	}
	return nil
}

// note says that older versions halt behind this one; "" if they do not.
func (h *history) note(spec string) string {
	if h.old == nil || h.next.Identity == h.old.Identity {
		return ""
	}
	return spec + ": the identity of events has changed (see idemgen plan), so do not roll back after the rollout: an older version of the service halts on partitions that this one has written\n"
}

// byHand reports whether a migration of the team's own says that it makes the change, and
// notes that migration once.
func (h *history) byHand(subject string) bool {
	i := slices.IndexFunc(h.ledger.byHand, func(by handed) bool { return by.subject == subject })
	if i < 0 {
		return false
	}
	if m := (state.Migration{Name: h.ledger.byHand[i].file, Sum: state.ByHand}); !slices.Contains(h.next.Migrations, m) {
		h.next.Migrations = append(h.next.Migrations, m)
	}
	return true
}

// wayOut says how a change is made that idemgen writes no migration for.
func (h *history) wayOut(s *source, c state.TableChange) string {
	renamed := ""
	if c.Gone && c.At.Column == "" {
		renamed = " (after a rename, also a line for the new table)"
	} else if c.Gone {
		renamed = " (after a rename, also a line for the new column)"
	}
	kept := ""
	if c.Gone {
		kept = fmt.Sprintf("; if the database keeps the name, give the new entry name: %s instead", cmp.Or(c.At.Column, c.At.Table))
	}
	dir := s.folder.Show(s.service.Migrations.Dir)
	if h.ledger.mixed {
		dir = "what idemgen wrote in " + dir
	}
	return fmt.Sprintf("%s in a migration of your own that has the line %q%s, then run generate again%s; if the migrations were never applied anywhere, delete %s and %s and run generate again; if only the newest one was not, delete it and restore that file (git checkout)",
		order(c), byHandMark+c.Subject(), renamed, kept, dir, s.folder.Show(state.File))
}

// order says what a person does for a change: the SQL of it, or what to think of.
func order(c state.TableChange) string {
	switch c.Kind {
	case state.Refused:
		return c.Advice
	case state.NewUnique:
		return "write " + sqlcode.AddUnique(c.Table, c.Key)
	case state.NewForeignKey:
		return "write " + sqlcode.AddForeignKey(c.Table, *c.Foreign)
	}
	text := "write " + sqlcode.AlterColumn(c.Table, sqlcode.Alteration{Column: c.Column, Type: c.Alter.Type, Nullable: c.Alter.Nullable, Default: c.Alter.Default})
	if c.Alter.Type {
		text += " or, if the new type does not hold all values of the old one, add a column of the new type, fill it in portions, and drop the old column,"
	}
	return text
}

// position is where the spec speaks of what is refused: the column, else its table, else
// the key "tables", else the first line.
func (s *source) position(c state.TableChange) syntax.Pos {
	at := s.parsed.TablesKey
	for _, t := range s.parsed.Tables {
		if t.Name.Value != c.At.Table {
			continue
		}
		at = t.Name.Pos
		for _, column := range t.Columns {
			if column.Name.Value == c.At.Column {
				at = column.Name.Pos
			}
		}
	}
	return cmp.Or(at, syntax.Pos{Line: 1, Col: 1, Width: 1})
}
