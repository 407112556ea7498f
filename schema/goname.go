package schema

import (
	"regexp"
	"strings"
)

// GoName is a Go type: the import path of its package and its name.
type GoName struct {
	Path, Name string
	Pos, Key   Pos
}

// Import paths and exported names as far as both may stand in Go code as they are.
var (
	importPath   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._~+-]*(/[A-Za-z0-9_][A-Za-z0-9._~+-]*)*$`)
	exportedName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`)
)

// goName reads import/path.Name.
func (w *walker) goName(e entry) (*GoName, bool) {
	t, ok := w.full(e)
	if !ok {
		return nil, false
	}
	dot := strings.LastIndex(t.Value, ".")
	if dot < 0 || strings.Contains(t.Value[dot:], "/") || !importPath.MatchString(t.Value[:dot]) || !exportedName.MatchString(t.Value[dot+1:]) {
		w.ds.Add(t.Pos, "E201", "go "+quote(t.Value)+" is not the import path of a package and an exported name", "write it like github.com/google/uuid.UUID")
		return nil, false
	}
	return &GoName{Path: t.Value[:dot], Name: t.Value[dot+1:], Pos: t.Pos, Key: t.Key}, true
}
