package architecture

import (
	"bufio"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// Comments in Go files that people write are read like prose: their lines end before column 100,
// unless they are one word, and their sentences hold no turns that a reader must take apart.
func TestCommentsAreWrappedAndPlain(t *testing.T) {
	comments := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(name, ".") && len(name) > 2 || name == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		case strings.HasSuffix(name, "_gen.go") || strings.HasSuffix(name, "_gen_test.go"):
			return nil
		}
		lines := bufio.NewScanner(strings.NewReader(read(t, path)))
		for n := 1; lines.Scan(); n++ {
			line := lines.Text()
			text, ok := strings.CutPrefix(strings.TrimSpace(line), "// ")
			if !ok {
				continue
			}
			comments++
			if width := utf8.RuneCountInString(line); width >= columns && strings.Contains(text, " ") {
				t.Errorf("%s:%d: a comment of %d columns", path, n, width)
			}
			for _, turn := range []string{"of which", "that which", "none of that"} {
				if strings.Contains(text, turn) {
					t.Errorf("%s:%d: a comment says %q: make it two sentences", path, n, turn)
				}
			}
		}
		return lines.Err()
	})
	if err != nil || comments < 1000 {
		t.Fatalf("%d lines of comments (%v)", comments, err)
	}
}
