package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A bug that is not planted is not caught either: each must find its text, once.
func TestEveryBugFindsItsText(t *testing.T) {
	for _, m := range slices.Concat(planted, keyBugs, outageBugs, sessionBugs) {
		for _, e := range m.edits {
			src, err := os.ReadFile(filepath.Join("..", "..", e.file))
			if err != nil {
				t.Errorf("%s: %v", m.name, err)
				continue
			}
			if n := strings.Count(string(src), e.old); n != 1 {
				t.Errorf("%s: %s has its text %d times", m.name, e.file, n)
			}
		}
	}
}
