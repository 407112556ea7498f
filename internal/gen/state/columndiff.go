package state

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Alter is what of a column changes.
type Alter struct {
	Type     bool
	Nullable bool // it may be NULL from now on
	Default  bool // it has a default, or another one
}

// newColumn adds a column to a table that has rows: they need a value that Postgres can tell
// without writing them.
func (d *tableDiff) newColumn(t *model.Table, c *model.Column) {
	at := Place{t.Name, c.Name}
	switch {
	case c.Identity:
		d.refuse(at, "add it without identity, number the existing rows in portions, then set NOT NULL and identity",
			"new column %q of %q gets its own number in each row, so adding it would rewrite the whole table, and nothing could use the table meanwhile", c.Name, t.Name)
	case c.Default != nil && c.Default.Func == "gen_random_uuid()":
		d.refuse(at, "add it without its default, set the default, fill the existing rows in portions, then set NOT NULL",
			"new column %q of %q gets its own default in each row, so adding it would rewrite the whole table, and nothing could use the table meanwhile", c.Name, t.Name)
	case c.Nullable, c.Default != nil: // now() is the same for all rows
		d.add(TableChange{Kind: NewColumn, Table: t, Column: c, At: at, Text: fmt.Sprintf("column %q of %q is new", c.Name, t.Name)})
	default:
		d.refuse(at, "make it nullable or give it a default, or add it",
			"new column %q of %q has no value for the existing rows", c.Name, t.Name)
	}
}

// columnText is what a column's text says, taken apart. It is what columnDef writes.
type columnText struct {
	typ, def           string
	stored             string // name in the database, if that is another one
	nullable, identity bool
}

func readColumn(text string) (d columnText) {
	text, d.nullable = strings.CutPrefix(text, "nullable ")
	text, rest, hasDefault := strings.Cut(text, " default ")
	if hasDefault {
		d.def, _, _ = strings.Cut(rest, " ")
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			d.def = quoted
		}
		text += rest[len(d.def):]
	}
	text, stored, hasName := strings.Cut(text, " name ")
	if hasName {
		d.stored, _ = strconv.Unquote(stored)
	}
	d.typ, d.identity = strings.CutSuffix(text, " identity")
	return d
}

// column compares the definitions of a column.
func (d *tableDiff) column(t *model.Table, c *model.Column, old, now string) {
	if old == now {
		return
	}
	at := Place{t.Name, c.Name}
	was, is := readColumn(old), readColumn(now)
	alter := Alter{Type: was.typ != is.typ, Nullable: is.nullable && !was.nullable, Default: is.def != was.def}
	changed := fmt.Sprintf("column %q of %q changed from %s to %s", c.Name, t.Name, old, now)
	switch {
	case was.stored != is.stored:
		d.stop(at, "rename it", "%s; idemgen does not rename it", changed)
	case was.identity != is.identity:
		d.refuse(at, "change it", "%s; idemgen does not change how rows are numbered", changed)
	case was.nullable && !is.nullable:
		d.refuse(at, "fill the rows that have none, add CHECK ("+c.Name+" IS NOT NULL) NOT VALID, validate it, then set NOT NULL and drop the check",
			"%s: rows may have no value there", changed)
	case was.def != "" && is.def == "":
		d.refuse(at, "drop the default when no running version leaves the column to it",
			"%s: older versions may leave the column to its default", changed)
	default:
		d.add(TableChange{Kind: ChangedColumn, Table: t, Column: c, Alter: alter, At: at, Text: changed})
	}
}
