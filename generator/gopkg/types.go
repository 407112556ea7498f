package gopkg

import (
	"cmp"
	"context"
	"fmt"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Type is a Go type that a spec names, and what is asked of it.
type Type struct {
	Folder string // of the spec: absolute, symbolic links resolved
	Path   string // of the type's package
	Name   string
	// Basic is the underlying type of values that convert: a word of Go like string, or
	// [16]byte, []byte, time.Time; "" if none does.
	Basic string
	Parse bool // it may read values by UnmarshalText, too
}

// Found is what is known of a type. If it cannot be used, Flaw says why, as a clause behind its
// name, and Hint what to do.
type Found struct {
	Package string // in the package clause; "" if it is the package of the spec's own folder
	Parses  bool   // values are read by UnmarshalText; else they convert
	Flaw    string
	Hint    string
}

// Types finds types by what their packages declare. What else is wrong in a package does not
// matter: it may be the one that is generated into, or import it. The go command is started once
// for each module, without network.
func Types(ctx context.Context, asked []Type) (map[Type]Found, error) {
	found := map[Type]Found{}
	modules := map[string][]Type{}
	var order []string
	for _, t := range asked {
		module, err := moduleOf(t.Folder, "has a spec that names Go types")
		if err != nil {
			return nil, err
		}
		if modules[module] == nil {
			order = append(order, module)
		}
		modules[module] = append(modules[module], t)
	}
	for _, module := range order {
		u, err := loadTypes(ctx, module, modules[module])
		if err != nil {
			return nil, err
		}
		for _, t := range modules[module] {
			found[t] = u.find(t)
		}
	}
	return found, nil
}

// universe is the packages of one load, by import path: types of several of them can be compared.
type universe map[string]*loaded

func loadTypes(ctx context.Context, module string, asked []Type) (universe, error) {
	paths := []string{"time"}
	for _, t := range asked {
		paths = append(paths, t.Path)
	}
	slices.Sort(paths)
	all, err := loadDeclared(ctx, module, slices.Compact(paths))
	if err != nil {
		return nil, err
	}
	u := universe{}
	for _, p := range all {
		u[p.PkgPath] = p
	}
	return u, nil
}

// find looks a type up, and says how it takes values.
func (u universe) find(t Type) Found {
	p := u[t.Path]
	if p == nil || p.Types == nil || len(p.GoFiles) == 0 {
		return Found{Flaw: fmt.Sprintf("package %s is not found", t.Path),
			Hint: "it must hold Go files, and be in this module, in the standard library or in a module that go.mod names: go get adds one"}
	}
	own := filepath.Dir(p.GoFiles[0]) == t.Folder
	if flaw := u.imported(t, p, own); flaw != "" {
		return Found{Flaw: flaw, Hint: "declare the type in a package of its own"}
	}
	declared, ok := p.Types.Scope().Lookup(t.Name).(*types.TypeName)
	if !ok {
		return Found{Flaw: fmt.Sprintf("package %s declares no type %s%s", t.Path, t.Name, firstError(p)), Hint: "declare it there, or write the name of one that it has"}
	}
	found := Found{Package: p.Name}
	if own {
		found.Package = ""
	}
	named, ok := types.Unalias(declared.Type()).(*types.Named)
	switch {
	case ok && named.TypeParams().Len() > 0:
		found.Flaw, found.Hint = "it has type parameters", "declare a type of your own: type "+t.Name+"Of "+t.Name+"[...]"
	case types.Identical(declared.Type().Underlying(), types.Typ[types.Invalid]):
		found.Flaw, found.Hint = "its declaration cannot be read"+firstError(p), "mend it"
	case u.converts(declared.Type(), t.Basic):
	case t.Parse && parses(declared.Type()):
		found.Parses = true
	default:
		found.Flaw = "values do not convert to it"
		found.Hint = u.wanted(t)
	}
	return found
}

// wanted says which types take the values.
func (u universe) wanted(t Type) string {
	var ways []string
	if t.Basic != "" {
		ways = append(ways, "an underlying type "+t.Basic)
	}
	if t.Parse {
		ways = append(ways, "a method UnmarshalText([]byte) error on its pointer")
	}
	return "it needs " + strings.Join(ways, ", or ")
}

// imported says why generated code cannot import a package; "" if it can.
func (u universe) imported(t Type, p *loaded, own bool) string {
	switch before, inside, hidden := cutInternal(t.Path); {
	case own:
		return ""
	case p.Name == "main":
		return fmt.Sprintf("package %s is a program, which nothing can import", t.Path)
	case hidden && !within(p, t.Folder, before):
		return fmt.Sprintf("package %s is internal to %s", inside, cmp.Or(before, "the standard library"))
	case u.reaches(p, t.Folder):
		return fmt.Sprintf("package %s imports the one that is generated", t.Path)
	}
	return ""
}

// cutInternal is the path above the last element internal.
func cutInternal(importPath string) (before, whole string, hidden bool) {
	elems := strings.Split(importPath, "/")
	for i := len(elems) - 1; i >= 0; i-- {
		if elems[i] == "internal" {
			return path.Join(elems[:i]...), importPath, true
		}
	}
	return "", importPath, false
}

// within reports whether a folder is that of a package at or below before, in p's module.
func within(p *loaded, folder, before string) bool {
	own, ok := pathOf(p, folder)
	return ok && (own == before || strings.HasPrefix(own, before+"/"))
}

// pathOf is the import path of a folder, if it is in the module of p.
func pathOf(p *loaded, folder string) (string, bool) {
	if p.Module == nil || p.Module.Dir == "" {
		return "", false
	}
	rel, err := filepath.Rel(p.Module.Dir, folder)
	if err != nil || strings.HasPrefix(rel, "..") {
		return "", false
	}
	return path.Join(p.Module.Path, filepath.ToSlash(rel)), true
}

// reaches reports whether a package imports that of a folder, be it by others.
func (u universe) reaches(p *loaded, folder string) bool {
	own, ok := pathOf(p, folder)
	if !ok {
		return false
	}
	seen := map[*loaded]bool{}
	var visit func(*loaded) bool
	visit = func(p *loaded) bool {
		if seen[p] {
			return false
		}
		seen[p] = true
		for at, other := range p.Imports {
			if at == own || other.PkgPath == own || visit(other) {
				return true
			}
		}
		return false
	}
	return visit(p)
}

// converts reports whether values convert to a type and back, whatever they are.
func (u universe) converts(t types.Type, basic string) bool {
	var to types.Type
	switch basic {
	case "":
		return false
	case "time.Time":
		std := u["time"]
		if std == nil || std.Types == nil {
			return false
		}
		to = std.Types.Scope().Lookup("Time").Type()
	case "[16]byte":
		to = types.NewArray(types.Typ[types.Byte], 16)
	case "[]byte":
		to = types.NewSlice(types.Typ[types.Byte])
	default:
		to = types.Universe.Lookup(basic).Type()
	}
	return types.Identical(t.Underlying(), to.Underlying())
}

// parses reports whether a pointer to a value has UnmarshalText([]byte) error.
func parses(t types.Type) bool {
	if types.IsInterface(t) {
		return false
	}
	method := types.NewMethodSet(types.NewPointer(t)).Lookup(nil, "UnmarshalText")
	if method == nil {
		return false
	}
	s := method.Type().(*types.Signature)
	return s.Params().Len() == 1 && types.Identical(s.Params().At(0).Type(), types.NewSlice(types.Typ[types.Byte])) &&
		s.Results().Len() == 1 && types.Identical(s.Results().At(0).Type(), types.Universe.Lookup("error").Type())
}
