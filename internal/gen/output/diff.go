package output

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns the change as a unified diff: what is on disk as old, what was rendered as
// new. Where the file differs in nothing but its line endings, one line says so. It is empty
// for a scaffold file, which is the team's own.
func (c *Change) Diff() string {
	old, new := c.Path, c.Path
	switch {
	case c.Policy == Scaffold || c.Policy == Local:
		return ""
	case c.Op == Replace && bytes.Equal(unix(c.old), c.new):
		return c.Path + ": only the line endings differ: CRLF on disk, LF generated; .gitattributes keeps them (eol=lf)\n"
	case c.Op == Create:
		old = "/dev/null"
	case c.Op == Remove:
		new = "/dev/null"
	}
	_, text, _ := bytes.Cut(diff.Diff(old, unix(c.old), new, c.new), []byte("\n")) // without "diff old new"
	return string(text)
}
