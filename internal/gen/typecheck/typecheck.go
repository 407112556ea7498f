// Package typecheck tells whether Go code compiles, for tests that generate a lot of it. It runs
// no compiler and no linker. The packages that the code imports are read from the compiler's
// export data, which one go command lists for as many checks as a test has.
//
// It must not import any other package of this module.
package typecheck

import (
	"context"
	"errors"
	"fmt"
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

// Checker checks packages, one at a time.
type Checker struct {
	files    *token.FileSet
	exports  map[string]string // files of export data, by import path
	compiled types.Importer
	checked  map[string]*types.Package
}

// New makes a checker for code that imports the listed packages, or what these import. The go
// command finds them from a folder.
func New(ctx context.Context, dir string, imports ...string) (*Checker, error) {
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, imports...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	c := &Checker{files: token.NewFileSet(), exports: map[string]string{}, checked: map[string]*types.Package{}}
	for line := range strings.Lines(string(out)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), " ")
		c.exports[path] = export
	}
	c.compiled = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		if c.exports[path] == "" {
			return nil, fmt.Errorf("no export data of %q: list it for the checker", path)
		}
		return os.Open(c.exports[path])
	})
	return c, nil
}

// File is one file of a package.
type File struct {
	Name    string
	Content []byte
}

// Check checks the files of one package, tests of the same package included. Packages that are
// checked later may import it by its path.
func (c *Checker) Check(path string, files []File) error {
	var parsed []*ast.File
	for _, f := range files {
		file, err := parser.ParseFile(c.files, f.Name, f.Content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	var all error
	conf := types.Config{Importer: c, Error: func(err error) { all = errors.Join(all, err) }}
	pkg, _ := conf.Check(path, c.files, parsed, nil) // its errors went to conf.Error
	c.checked[path] = pkg
	return all
}

// CheckDir checks the Go files of a folder.
func (c *Checker) CheckDir(path, dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s has no Go files", dir)
	}
	if err != nil {
		return err
	}
	var files []File
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files = append(files, File{name, content})
	}
	return c.Check(path, files)
}

// Import finds a package that was checked before, or that is compiled.
func (c *Checker) Import(path string) (*types.Package, error) {
	if pkg := c.checked[path]; pkg != nil {
		return pkg, nil
	}
	return c.compiled.Import(path)
}
