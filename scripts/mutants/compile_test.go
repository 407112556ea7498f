package main

import (
	"encoding/json"
	"errors"
	"fmt"
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
)

// compiler checks the types of single packages. What they import, it knows from the go
// command's cache.
type compiler struct {
	root    string
	set     *token.FileSet
	sources map[string][]string            // of a package, by its directory below root
	export  map[string]string              // files of export data, by import path
	parsed  map[bool]map[string]syntaxFile // without functions' bodies, and with them
	imports types.Importer
}

func newCompiler(t *testing.T, root string, dirs []string) *compiler {
	t.Helper()
	c := &compiler{
		root: root, set: token.NewFileSet(),
		sources: map[string][]string{}, export: map[string]string{},
		parsed: map[bool]map[string]syntaxFile{false: {}, true: {}},
	}
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
	open := func(path string) (io.ReadCloser, error) { return os.Open(c.export[path]) }
	c.imports = importer.ForCompiler(c.set, "gc", open)
	return c
}

// syntaxFile is a file that was parsed.
type syntaxFile struct {
	syntax  *ast.File
	outside string // its text outside of functions' bodies
}

// parse parses a file: src, or what is on disk if that is nil.
func (c *compiler) parse(path string, src []byte) (syntaxFile, error) {
	path = filepath.Join(c.root, path)
	if src == nil {
		var err error
		if src, err = os.ReadFile(path); err != nil {
			return syntaxFile{}, err
		}
	}
	f, err := parser.ParseFile(c.set, path, src, parser.SkipObjectResolution)
	if err != nil {
		return syntaxFile{}, err
	}
	var outside strings.Builder
	from := 0
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			outside.Write(src[from:c.offset(d.Body.Pos())])
			from = c.offset(d.Body.End())
		}
	}
	outside.Write(src[from:])
	return syntaxFile{f, outside.String()}, nil
}

func (c *compiler) offset(p token.Pos) int { return c.set.Position(p).Offset }

// unchanged parses a file of the disk once, or once without functions' bodies.
func (c *compiler) unchanged(path string, hollow bool) (syntaxFile, error) {
	parsed := c.parsed[hollow]
	if f, ok := parsed[path]; ok {
		return f, nil
	}
	f, err := c.parse(path, nil)
	if err == nil && hollow {
		empty(f.syntax)
	}
	parsed[path] = f
	return f, err
}

// empty makes all that a function does a panic, which may stand in any function.
func empty(f *ast.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			call := &ast.CallExpr{Fun: ast.NewIdent("panic"), Args: []ast.Expr{ast.NewIdent("nil")}}
			d.Body.List = []ast.Stmt{&ast.ExprStmt{X: call}}
		}
	}
}

// check checks a package with some files changed. A change within functions' bodies can make
// wrong only what is in the same file: then bodies of other files are not looked at.
func (c *compiler) check(dir string, changed map[string][]byte) error {
	now, hollow, err := c.changed(dir, changed)
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, name := range c.sources[dir] {
		path := filepath.Join(dir, name)
		f, ok := now[path]
		if !ok {
			if f, err = c.unchanged(path, hollow); err != nil {
				return err
			}
		}
		files = append(files, f.syntax)
	}
	return c.types(dir, files, func(path string) bool { _, ok := now[path]; return ok || !hollow })
}

// changed parses changed files of a package. It says whether they changed within functions'
// bodies only.
func (c *compiler) changed(
	dir string, files map[string][]byte,
) (now map[string]syntaxFile, hollow bool, err error) {
	now, hollow = map[string]syntaxFile{}, true
	for path, src := range files {
		if filepath.Dir(path) != dir || filepath.Ext(path) != ".go" {
			continue
		}
		f, err := c.parse(path, src)
		if err != nil {
			return nil, false, err
		}
		before, err := c.unchanged(path, false)
		if err != nil {
			return nil, false, err
		}
		now[path] = f
		hollow = hollow && f.outside == before.outside
	}
	return now, hollow, nil
}

// types checks the types of files. It returns the errors of those that count.
func (c *compiler) types(dir string, files []*ast.File, counts func(path string) bool) error {
	var errs []error
	conf := types.Config{Importer: c.imports, Error: func(err error) {
		at := c.set.Position(err.(types.Error).Pos).Filename
		if path, below := filepath.Rel(c.root, at); below != nil || counts(path) {
			errs = append(errs, err)
		}
	}}
	_, _ = conf.Check(dir, c.set, files, nil)
	return errors.Join(errs...)
}

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

// compile checks the packages that bugs are planted in, and returns the errors by the bug's name.
func compile(t *testing.T, bugs []mutant) map[string]error {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	list, dirs := changes(t, bugs), map[string]bool{}
	for _, ch := range list {
		dirs[ch.dir] = true
	}
	c, errs := newCompiler(t, root, slices.Sorted(maps.Keys(dirs))), map[string]error{}
	for _, ch := range list {
		if err := c.check(ch.dir, ch.files); err != nil {
			errs[ch.name] = err
		}
	}
	return errs
}

// A rename may leave a bug its place, but not the names that its code uses.
func TestEveryBugCompiles(t *testing.T) {
	for name, err := range compile(t, all()) {
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
	errs := compile(t, []mutant{
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
