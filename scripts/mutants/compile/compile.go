// Package compile checks the types of changed packages without compiling what they import. It must
// not import anything of the module: it reads sources that may not compile.
package compile

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Compiler checks the types of single packages. What they import, it knows from the go
// command's cache.
type Compiler struct {
	root    string
	set     *token.FileSet
	sources map[string][]string            // of a package, by its directory below root
	export  map[string]string              // files of export data, by import path
	parsed  map[bool]map[string]syntaxFile // without functions' bodies, and with them
	imports types.Importer
}

// New returns a compiler of the packages in dirs, which are below the module's root.
func New(root string, dirs []string) (*Compiler, error) {
	c := &Compiler{
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
		return nil, err
	}
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		c.export[p.ImportPath] = p.Export
		if dir, err := filepath.Rel(root, p.Dir); err == nil {
			c.sources[dir] = p.GoFiles
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(c.export[path]) }
	c.imports = importer.ForCompiler(c.set, "gc", open)
	return c, nil
}

// syntaxFile is a file that was parsed.
type syntaxFile struct {
	syntax  *ast.File
	outside string // its text outside of functions' bodies
}

// parse parses a file: src, or what is on disk if that is nil.
func (c *Compiler) parse(path string, src []byte) (syntaxFile, error) {
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

func (c *Compiler) offset(p token.Pos) int { return c.set.Position(p).Offset }

// unchanged parses a file of the disk once, or once without functions' bodies.
func (c *Compiler) unchanged(path string, hollow bool) (syntaxFile, error) {
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

// Check checks a package with some files changed. A change within functions' bodies can make
// wrong only what is in the same file: then bodies of other files are not looked at.
func (c *Compiler) Check(dir string, changed map[string][]byte) error {
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
	return c.types(dir, files, nil, func(path string) bool { _, ok := now[path]; return ok || !hollow })
}

// changed parses changed files of a package. It says whether they changed within functions'
// bodies only.
func (c *Compiler) changed(
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
func (c *Compiler) types(dir string, files []*ast.File, info *types.Info, counts func(path string) bool) error {
	var errs []error
	conf := types.Config{Importer: c.imports, Error: func(err error) {
		at := c.set.Position(err.(types.Error).Pos).Filename
		if path, below := filepath.Rel(c.root, at); below != nil || counts(path) {
			errs = append(errs, err)
		}
	}}
	_, _ = conf.Check(dir, c.set, files, info)
	return errors.Join(errs...)
}

// Package is a package as it is, with the types of its expressions.
type Package struct {
	Set   *token.FileSet
	Files map[string]*ast.File // by path below the module's root
	Types map[ast.Expr]types.TypeAndValue
}

// Package returns the package in dir.
func (c *Compiler) Package(dir string) (Package, error) {
	p := Package{c.set, map[string]*ast.File{}, map[ast.Expr]types.TypeAndValue{}}
	var files []*ast.File
	for _, name := range c.sources[dir] {
		path := filepath.Join(dir, name)
		f, err := c.unchanged(path, false)
		if err != nil {
			return p, err
		}
		p.Files[path] = f.syntax
		files = append(files, f.syntax)
	}
	return p, c.types(dir, files, &types.Info{Types: p.Types}, func(string) bool { return true })
}
