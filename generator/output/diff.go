package output

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// around is how many equal lines a hunk shows before and after a change.
const around = 3

// Diff returns the change as a unified diff: what is on disk as old, what was rendered as
// new. Where the file differs in nothing but its line endings, one line says so. It is empty
// for a scaffold file, which is the team's own.
func (c *Change) Diff() string {
	switch {
	case c.Policy == Scaffold:
		return ""
	case c.Op == Replace && bytes.Equal(unix(c.old), c.new):
		return c.Path + ": only the line endings differ: CRLF on disk, LF generated; .gitattributes keeps them (eol=lf)\n"
	}
	var out strings.Builder
	c.diff(&out)
	return out.String()
}

func (c *Change) diff(out *strings.Builder) {
	old, new := c.Path, c.Path
	switch c.Op {
	case Create:
		old = "/dev/null"
	case Remove:
		new = "/dev/null"
	}
	fmt.Fprintf(out, "--- %s\n+++ %s\n", old, new)
	a, b := lines(unix(c.old)), lines(c.new)
	edits := compareLines(a, b)
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].a0-edits[n-1].a1 <= 2*around {
			n++
		}
		hunk(out, a, b, edits[:n])
		edits = edits[n:]
	}
}

// hunk prints the edits, which lie close together, with the lines around them.
func hunk(out *strings.Builder, a, b []string, edits []edit) {
	first, last := edits[0], edits[len(edits)-1]
	lead := min(around, first.a0)
	trail := min(around, len(a)-last.a1)
	fmt.Fprintf(out, "@@ -%s +%s @@\n",
		lineRange(first.a0-lead, last.a1+trail), lineRange(first.b0-lead, last.b1+trail))
	at := first.a0 - lead
	for _, e := range edits {
		prefixed(out, " ", a[at:e.a0])
		prefixed(out, "-", a[e.a0:e.a1])
		prefixed(out, "+", b[e.b0:e.b1])
		at = e.a1
	}
	prefixed(out, " ", a[at:at+trail])
}

// lineRange is the range from..to, counted from 0 without the end, as a hunk header has it.
func lineRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from) // the line before
	case 1:
		return fmt.Sprintf("%d", from+1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func prefixed(out *strings.Builder, prefix string, lines []string) {
	for _, line := range lines {
		out.WriteString(prefix + line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// lines returns the lines of text, each with its line ending.
func lines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }
