package idemtest

import (
	"slices"
	"strings"
)

// redacted stands for a value that is in no text.
const redacted = "[sensitive]"

// shown is a cell as messages may have it.
func (c *runner) shown(table, cell string) string {
	name, _, _ := strings.Cut(cell, "=")
	for _, t := range c.tables {
		if t.Name == table && slices.Contains(t.Sensitive, name) {
			return name + "=" + redacted
		}
	}
	return readable(cell)
}

// shownRow is a row as messages may have it.
func (c *runner) shownRow(table string, row []string) string {
	var out []string
	for _, cell := range row {
		out = append(out, c.shown(table, cell))
	}
	return strings.Join(out, "  ")
}

// shownID is the key of a row as messages may have it.
func (c *runner) shownID(table string, row, key []string) string {
	var shown []string
	for _, cell := range row {
		shown = append(shown, c.shown(table, cell))
	}
	return idOf(shown, key)
}

// shownLines are by line of a state what messages may have in its place.
func (c *runner) shownLines(states ...*state) map[string]string {
	out := map[string]string{}
	for _, s := range states {
		for _, t := range s.tables {
			for _, row := range t.cells {
				line := strings.Join(row, "  ")
				out[line] = c.shownRow(t.table, row)
				out[t.table+": "+line] = t.table + ": " + out[line]
			}
		}
	}
	return out
}

// diffShown is diff of lines of states, in the form that messages may have.
func (c *runner) diffShown(want, got []string, states ...*state) string {
	shown := c.shownLines(states...)
	var out []string
	for line := range strings.Lines(diff(want, got)) {
		line = strings.TrimRight(line, "\n")
		if len(line) > 2 && shown[line[2:]] != "" {
			line = line[:2] + shown[line[2:]]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
