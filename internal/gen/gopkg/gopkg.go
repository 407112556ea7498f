// Package gopkg looks at the Go files that a team keeps beside a spec: which names they
// declare. It is the only package that uses go/packages. Whether a package compiles does not
// matter, because generated code that is not written yet is a usual reason why it does not.
//
// It must not import any other package of this module.
package gopkg

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Package is what the hand-written files of one folder declare.
type Package struct {
	// Declared are names at package level, and methods as "Type.Method". Files that a
	// build constraint leaves out count, so that the result is the same on every system.
	Declared map[string]token.Position
	// Clauses are the names in the package clauses, _test packages left out.
	Clauses map[string]token.Position
}

// Method reports whether any type of the package has a method of this name.
func (p *Package) Method(name string) bool {
	for declared := range p.Declared {
		if _, method, _ := strings.Cut(declared, "."); method == name {
			return true
		}
	}
	return false
}

// Receiver returns the type, the first by name, with a method whose name is accepted; "" if
// there is none.
func (p *Package) Receiver(accepts func(method string) bool) string {
	for _, declared := range slices.Sorted(maps.Keys(p.Declared)) {
		if receiver, method, is := strings.Cut(declared, "."); is && accepts(method) {
			return receiver
		}
	}
	return ""
}

// Load reads the packages in the folders, which are absolute, symbolic links resolved,
// and each inside a module; the result is by folder. generated tells which files are not
// hand-written. It starts the go command once per module, usually once.
func Load(ctx context.Context, folders []string, generated func(content []byte) bool) (map[string]*Package, error) {
	result := map[string]*Package{}
	modules := map[string][]string{}
	var order []string
	for _, dir := range folders {
		result[dir] = &Package{Declared: map[string]token.Position{}, Clauses: map[string]token.Position{}}
		module, err := moduleOf(dir, "holds Go files")
		if err != nil {
			return nil, err
		}
		if modules[module] == nil {
			order = append(order, module)
		}
		modules[module] = append(modules[module], dir)
	}
	for _, module := range order {
		if err := load(ctx, module, modules[module], generated, result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// moduleOf returns the folder upwards from dir that holds go.mod; fact is why there must be one.
func moduleOf(dir, fact string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s %s but no go.mod is found upwards: run go mod init first", filepath.ToSlash(dir), fact)
		}
	}
}

// load fills result for the folders, all of one module.
func load(ctx context.Context, module string, folders []string, generated func([]byte) bool, result map[string]*Package) error {
	listed, err := listFiles(ctx, module, folders)
	if err != nil {
		return err
	}
	var files []string
	excluded := map[string]bool{} // by a build constraint
	for _, p := range listed {
		files = append(files, p.GoFiles...)
		for _, name := range p.IgnoredFiles {
			files = append(files, name)
			excluded[name] = true
		}
		err = errors.Join(err, unlisted(p))
	}
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, name := range slices.Compact(files) { // a package is listed again with its tests
		p := result[filepath.Dir(name)]
		if p == nil || filepath.Ext(name) != ".go" { // the generated main of a test
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !generated(content) {
			p.add(name, content, excluded[name])
		}
	}
	return nil
}

// add reads one file as far as it can be read.
func (p *Package) add(name string, content []byte, excluded bool) {
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, name, content, parser.SkipObjectResolution) // a broken file declares what stands before the error
	if file == nil || file.Name == nil || file.Name.Name == "" {
		return
	}
	clause := file.Name.Name
	if strings.HasSuffix(clause, "_test") || excluded && clause == "main" { // a program of its own: go run tool.go
		return
	}
	first(p.Clauses, clause, fset.Position(file.Name.Pos()))
	Each(file, func(name string, at token.Pos) { first(p.Declared, name, fset.Position(at)) })
}

func first(m map[string]token.Position, name string, at token.Position) {
	if _, twice := m[name]; !twice {
		m[name] = at
	}
}

// Each calls found for every declaration of file at package level, methods as "Type.Method".
func Each(file *ast.File, found func(name string, at token.Pos)) {
	ident := func(prefix string, id *ast.Ident) {
		if id.Name != "_" && (prefix != "" || id.Name != "init") {
			found(prefix+id.Name, id.Pos())
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			ident(receiver(d), d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					ident("", s.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						ident("", name)
					}
				}
			}
		}
	}
}

// receiver returns "Type." for a method, else "".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return "?."
		}
	}
}
