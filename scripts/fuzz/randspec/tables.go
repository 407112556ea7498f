package randspec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// table is what steps must know of a table.
type table struct {
	name     string
	primary  []string
	unique   []string // a second unique key; nil if there is none
	columns  []string
	identity string // the column that numbers the rows; ""
	defaults map[string]bool
}

// has reports whether the table has a column that does not find rows.
func (t *table) has(column string) bool {
	return slices.Contains(t.columns, column) && !t.key(column)
}

// sums are the columns to which steps may add.
func (t *table) sums() []string {
	return slices.DeleteFunc([]string{"n", "m", "no"}, func(c string) bool { return !t.has(c) })
}

func (t *table) key(column string) bool { return slices.Contains(t.primary, column) }

// primaries are the primary keys that tables may have.
var primaries = [][]string{{"id"}, {"id", "k"}, {"id", "no"}, {"k", "no"}, {"k"}, {rowNumber}}

// tables makes some tables; later ones may refer to earlier ones.
func tables(r *rand.Rand, all map[string]name, count int) ([]*table, *part) {
	section := &part{lines: []string{"tables:"}, needed: true}
	var made []*table
	for i := range count {
		t := &table{name: fmt.Sprintf("t%d", i+1), primary: pick(r, primaries), defaults: map[string]bool{}}
		p := &part{lines: []string{t.name + ":"}}
		p.add(need("primary_key: [" + strings.Join(t.primary, ", ") + "]"))
		for _, option := range []string{"schema: Elsewhere", "name: Stored " + t.name, "external: true"} {
			if chance(r, 7) {
				p.add(leaf(option))
			}
		}
		p.add(t.columnLines(r, all))
		if len(t.columns) > 2 && chance(r, 20) {
			t.unique = t.columns[1:3]
			p.add(leaf("unique: [[" + strings.Join(t.unique, ", ") + "]]"))
		}
		if fk := t.foreignKey(r, made); fk != "" {
			p.add(leaf(fk))
		}
		section.add(p)
		made = append(made, t)
	}
	return made, section
}

func (t *table) columnLines(r *rand.Rand, all map[string]name) *part {
	columns := &part{lines: []string{"columns:"}, needed: true}
	if t.primary[0] == rowNumber {
		t.identity = rowNumber
		columns.add(need(rowNumber + ": {type: bigint, identity: true}"))
		t.columns = append(t.columns, rowNumber)
	}
	for _, n := range order {
		if !t.key(n) && !chance(r, 50) {
			continue
		}
		c, typ, rest := all[n], all[n].column, ""
		if c.optional && !t.key(n) {
			typ = "nullable " + strings.Trim(typ, `"`)
			typ = `"` + typ + `"`
		}
		if !t.key(n) && c.constant != "" && chance(r, 15) {
			t.defaults[n] = true
			rest = ", default: " + c.constant
		}
		if chance(r, 5) {
			rest += ", name: Stored " + n
		}
		line := leaf(fmt.Sprintf("%s: {type: %s%s}", n, typ, rest))
		line.needed = t.key(n)
		columns.add(line)
		t.columns = append(t.columns, n)
	}
	return columns
}

// foreignKey refers to a table whose whole primary key this one has, too.
func (t *table) foreignKey(r *rand.Rand, earlier []*table) string {
	if len(earlier) == 0 || !chance(r, 35) {
		return ""
	}
	parent := pick(r, earlier)
	for _, c := range parent.primary {
		if c == rowNumber || !slices.Contains(t.columns, c) {
			return ""
		}
	}
	return fmt.Sprintf("foreign_keys: [{columns: [%s], references: %s, on_delete: %s}]",
		strings.Join(parent.primary, ", "), parent.name, pick(r, []string{"restrict", "cascade"}))
}
