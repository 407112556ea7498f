package syntax

import (
	"regexp"
	"slices"
)

// conflictMark is a line that a version control system leaves where two sides differ.
var conflictMark = regexp.MustCompile(`^(<{7}|\|{7}|={7}|>{7})( |$)`)

// Unmerged returns the first line with the mark of a merge conflict, from 1; 0 if there is
// none. It says something of a file only that is not valid: a text may hold such lines.
func Unmerged(data []byte) int { return newSource(data).unmerged() }

func (s source) unmerged() int {
	return 1 + slices.IndexFunc(s.lines, func(line []rune) bool { return conflictMark.MatchString(string(line)) })
}

// unmerged puts the conflict of a merge in place of everything that follows from it in a
// file that is not valid YAML.
func (ds *Diagnostics) unmerged(src source) {
	line := src.unmerged()
	if line == 0 || !slices.ContainsFunc(ds.list, func(d Diagnostic) bool { return d.Code == "E101" }) {
		return
	}
	ds.list = nil
	ds.Add(Pos{Line: line, Col: 1, Width: 7}, "E101", "not valid YAML: this looks like an unresolved merge",
		"keep the right parts of both sides, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>")
}
