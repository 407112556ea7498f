package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/scripts/mutants/plant"
)

// compiler checks the types of single packages. What they import, it knows from the go
// command's cache.
type compiler struct {
	root    string
	set     *token.FileSet
	sources map[string][]string // of a package, by its directory below root
	export  map[string]string   // files of export data, by import path
	parsed  map[string]*ast.File
	imports types.Importer
}

func newCompiler(t *testing.T, root string, dirs []string) *compiler {
	t.Helper()
	c := &compiler{root: root, set: token.NewFileSet(), sources: map[string][]string{}, export: map[string]string{}, parsed: map[string]*ast.File{}}
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	for _, dir := range dirs {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		c.export[p.ImportPath] = p.Export
		if dir, err := filepath.Rel(root, p.Dir); err == nil {
			c.sources[dir] = p.GoFiles
		}
	}
	c.imports = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(c.export[path]) })
	return c
}

// check checks a package with some files changed.
func (c *compiler) check(dir string, changed map[string][]byte) error {
	var files []*ast.File
	for _, name := range c.sources[dir] {
		path := filepath.Join(dir, name)
		f := c.parsed[path]
		if src, ok := changed[path]; ok || f == nil {
			var from any
			if ok {
				from = src
			}
			var err error
			if f, err = parser.ParseFile(c.set, filepath.Join(c.root, path), from, parser.SkipObjectResolution); err != nil {
				return err
			}
			if !ok {
				c.parsed[path] = f
			}
		}
		files = append(files, f)
	}
	var errs []error
	conf := types.Config{Importer: c.imports, Error: func(err error) { errs = append(errs, err) }}
	_, _ = conf.Check(dir, c.set, files, nil)
	return errors.Join(errs...)
}

// A rename may leave a bug its place, but not the names that its code uses.
func TestEveryBugCompiles(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	sources, dirs := plant.Read(root), map[string]bool{}
	type change struct {
		name  string
		dir   string
		files map[string][]byte
	}
	var changes []change
	for _, m := range all() {
		files, err := sources.Apply(m.edits)
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
			dirs[dir] = true
			changes = append(changes, change{m.name, dir, files})
		}
	}
	c := newCompiler(t, root, slices.Sorted(maps.Keys(dirs)))
	for _, bug := range changes {
		if err := c.check(bug.dir, bug.files); err != nil {
			t.Errorf("%s: %v", bug.name, err)
		}
	}
}
