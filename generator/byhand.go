package generator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

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

// byHand reports whether a migration of the team's own says that it makes the change, and
// notes that migration once.
func (u *unit) byHand(subject string) bool {
	i := slices.IndexFunc(u.ledger.byHand, func(h handed) bool { return h.subject == subject })
	if i < 0 {
		return false
	}
	if m := (state.Migration{Name: u.ledger.byHand[i].file, Sum: state.ByHand}); !slices.Contains(u.next.Migrations, m) {
		u.next.Migrations = append(u.next.Migrations, m)
	}
	return true
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
