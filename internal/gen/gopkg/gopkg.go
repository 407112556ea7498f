// Package gopkg reads the Go files that a team keeps beside a spec: which names they declare. It
// resolves no import, so neither a workspace, a vendored module nor an incomplete go.mod changes
// the result. Whether a package compiles does not matter either, because generated code that is
// not written yet is a usual reason why it does not.
//
// It must not import any other package of this module.
package gopkg

import (
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

// Load reads the hand-written Go files of a folder, which is absolute. If it has any, it must be
// inside a module. generated reports which files are not hand-written.
func Load(dir string, generated func(content []byte) bool) (*Package, error) {
	p := &Package{Declared: map[string]token.Position{}, Clauses: map[string]token.Position{}}
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	hand := map[string][]byte{}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if info, err := os.Stat(name); !source(e.Name()) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if !generated(content) {
			hand[name] = content
		}
	}
	if len(hand) == 0 {
		return p, nil
	}
	if !inModule(dir) {
		return nil, fmt.Errorf("%s holds Go files but no go.mod is found upwards: run go mod init first", filepath.ToSlash(dir))
	}
	excluded, err := ignored(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(hand)) {
		p.add(name, hand[name], excluded[filepath.Base(name)])
	}
	return p, nil
}

// source reports whether the go command takes a file of this name for Go code.
func source(name string) bool {
	return filepath.Ext(name) == ".go" && name[0] != '_' && name[0] != '.'
}

// inModule reports whether go.mod is in a folder or upwards.
func inModule(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
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
