package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mutant is one planted bug, and the test that must catch it.
type mutant struct {
	name  string
	edits []edit
	pkg   string // the test's package
	test  string // the test's name, or that of a test within it: TestX/case
}

// edit replaces one text by another in a file; the text must occur exactly once.
type edit struct{ file, old, new string }

// overlay writes the changed files into dir, and the go command's list of them, whose path it
// returns. The edits' files are relative to root.
func (m mutant) overlay(root, dir string) (string, error) {
	replace := map[string]string{}
	for i, e := range m.edits {
		file, err := filepath.Abs(filepath.Join(root, e.file))
		if err != nil {
			return "", err
		}
		from := file
		if earlier, ok := replace[file]; ok {
			from = earlier
		}
		src, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(src), e.old); n != 1 {
			return "", fmt.Errorf("%s: the text to replace occurs %d times: %q", e.file, n, e.old)
		}
		out := filepath.Join(dir, fmt.Sprintf("%d_%s", i, filepath.Base(e.file)))
		if err := os.WriteFile(out, []byte(strings.Replace(string(src), e.old, e.new, 1)), 0o644); err != nil {
			return "", err
		}
		replace[file] = out
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, b, 0o644)
}
