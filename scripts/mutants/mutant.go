package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idemgen/idemgen/scripts/mutants/plant"
)

// mutant is one planted bug, and the test that must catch it.
type mutant struct {
	name  string
	edits plant.Edits
	pkg   string // the test's package
	test  string // the test's name, or that of a test within it: TestX/case
}

// in begins the edits of a bug.
var in = plant.In

// overlay writes the changed files into dir, and the go command's list of them, whose path it
// returns.
func (m mutant) overlay(sources *plant.Sources, root, dir string) (string, error) {
	files, err := sources.Apply(m.edits)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, src := range files {
		out := filepath.Join(dir, fmt.Sprintf("%d_%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(out, src, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, path)] = out
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, b, 0o644)
}
