package idemtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// rowDiff says what differs, row by row: a table, the row's primary key, the column, what must be
// there and what is. Where the cells do not hold the primary key, it shows whole rows.
func (c *runner) rowDiff(want, got *state) string {
	var out []string
	for i, w := range want.tables {
		g := got.tables[i]
		switch {
		case w.counted != notCounted:
			if w.counted != g.counted {
				word := "rows"
				if w.counted == 1 {
					word = "row"
				}
				out = append(out, fmt.Sprintf("%s: want %d %s, got %d", w.table, w.counted, word, g.counted))
			}
			continue
		case c.keyed(w) && c.keyed(g):
			out = append(out, c.differs(w, g, c.keyOf(w.table))...)
			continue
		}
		for line := range strings.Lines(c.diffShown(wholeRows(w), wholeRows(g), want, got)) {
			out = append(out, w.table+": "+strings.NewReplacer("- ", "want ", "+ ", "got  ").Replace(line[:2])+strings.TrimRight(line[2:], "\n"))
		}
	}
	return shortened(out)
}

// differs compares two tables whose rows have different keys each.
func (c *runner) differs(w, g rows, key []string) (out []string) {
	wanted, found := w.byKey(key), g.byKey(key)
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		row, there := found[id]
		if !there {
			out = append(out, fmt.Sprintf("%s %s: want this row, got none: %s", w.table, c.shownID(w.table, wanted[id], key), c.shownRow(w.table, wanted[id])))
			continue
		}
		for i, cell := range wanted[id] {
			if cell != row[i] {
				name, value, _ := strings.Cut(c.shown(w.table, cell), "=")
				_, have, _ := strings.Cut(c.shown(w.table, row[i]), "=")
				if value == have {
					have = "another one"
				}
				out = append(out, fmt.Sprintf("%s %s: %s: want %s, got %s", w.table, c.shownID(w.table, row, key), name, value, have))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if wanted[id] == nil {
			out = append(out, fmt.Sprintf("%s %s: want no such row, got %s", w.table, c.shownID(w.table, found[id], key), c.shownRow(w.table, found[id])))
		}
	}
	return out
}

// byKey are the rows by the cells of their key.
func (w rows) byKey(key []string) map[string][]string {
	out := map[string][]string{}
	for _, row := range w.cells {
		out[idOf(row, key)] = row
	}
	return out
}

func idOf(row, key []string) string {
	var id []string
	for _, name := range key {
		if at := slices.IndexFunc(row, func(cell string) bool { return columnOf(cell) == name }); at >= 0 {
			id = append(id, row[at])
		}
	}
	return strings.Join(id, " ")
}

// keyed reports whether the rows can be told apart by the cells of their primary key.
func (c *runner) keyed(w rows) bool {
	key := c.keyOf(w.table)
	for _, row := range w.cells {
		for _, name := range key {
			if !slices.ContainsFunc(row, func(cell string) bool { return columnOf(cell) == name }) {
				return false
			}
		}
	}
	return len(key) > 0 && len(w.byKey(key)) == len(w.cells)
}

func (c *runner) keyOf(table string) []string {
	for _, t := range c.tables {
		if t.Name == table {
			return t.Key
		}
	}
	return nil
}

func wholeRows(w rows) (out []string) {
	for _, row := range w.cells {
		out = append(out, strings.Join(row, "  "))
	}
	return out
}
