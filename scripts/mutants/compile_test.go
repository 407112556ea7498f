package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/scripts/mutants/compile"
)

// change is what edits do to a package.
type change struct {
	name  string
	dir   string
	files map[string][]byte
}

// changes are what bugs do to the packages that they are planted in.
func changes(t *testing.T, bugs []mutant) []change {
	t.Helper()
	var list []change
	for _, m := range bugs {
		files, err := module.Apply(m.edits)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		in := map[string]bool{}
		for path := range files {
			if filepath.Ext(path) == ".go" {
				in[filepath.Dir(path)] = true
			}
		}
		for dir := range in {
			list = append(list, change{m.name, dir, files})
		}
	}
	return list
}

// compiles checks the packages that bugs are planted in, and returns the errors by the bug's name.
func compiles(t *testing.T, bugs []mutant) map[string]error {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	list, dirs := changes(t, bugs), map[string]bool{}
	for _, ch := range list {
		dirs[ch.dir] = true
	}
	c, err := compile.New(root, slices.Sorted(maps.Keys(dirs)))
	if err != nil {
		t.Fatal(err)
	}
	errs := map[string]error{}
	for _, ch := range list {
		if err := c.Check(ch.dir, ch.files); err != nil {
			errs[ch.name] = err
		}
	}
	return errs
}

// A rename may leave a bug its place, but not the names that its code uses.
func TestEveryBugCompiles(t *testing.T) {
	for name, err := range compiles(t, all()) {
		t.Errorf("%s: %v", name, err)
	}
}

// Bodies of functions are left out where they decide nothing, and only there.
func TestWhatDoesNotCompileIsFound(t *testing.T) {
	const dir = "./scripts/mutants/plant"
	wants := map[string]string{
		"nothing wrong":                  "<nil>",
		"an unknown name":                "undefined: nothing",
		"an import that is used no more": "imported and not used",
		"a field that another file uses": "apply.go",
	}
	splice, apply, place := in(dir, "splice"), in(dir, "Sources.apply"), in(dir, "place")
	errs := compiles(t, []mutant{
		{name: "nothing wrong", edits: splice.Replace(`code`, `code + ""`)},
		{name: "an unknown name", edits: splice.Replace(`code`, `nothing`)},
		{
			name:  "an import that is used no more",
			edits: apply.Replace(`slices.DeleteFunc($all, _)`, `$all`),
		},
		{name: "a field that another file uses", edits: place.Text(`dir, name`, `dir, label`)},
	})
	for name, want := range wants {
		got := fmt.Sprint(errs[name])
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
