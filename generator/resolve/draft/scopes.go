package draft

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/schema"
)

// Scopes finds what is declared under the names by which a file knows it: its own names, and
// those of its imports after their alias.
type Scopes[T any] struct {
	files map[string]*names[T]
}

// names are those of one file.
type names[T any] struct {
	order []string
	named map[string]T
}

// Add declares a name in a file; the file is that of the places of the spec.
func (s *Scopes[T]) Add(file, name string, thing T) {
	if s.files == nil {
		s.files = map[string]*names[T]{}
	}
	if s.files[file] == nil {
		s.files[file] = &names[T]{named: map[string]T{}}
	}
	in := s.files[file]
	in.order = append(in.order, name)
	in.named[name] = thing
}

// Import makes what a library declares known to a file that imports it as alias.
func (s *Scopes[T]) Import(file, alias, library string) {
	if s.files[library] == nil {
		return
	}
	for _, name := range slices.Clone(s.files[library].order) {
		if !strings.Contains(name, ".") {
			s.Add(file, alias+"."+name, s.files[library].named[name])
		}
	}
}

// Find returns what a name means at a place of the spec; the zero value if it is unknown there.
func (s *Scopes[T]) Find(name string, at schema.Pos) (thing T) {
	if in := s.files[at.File]; in != nil {
		thing = in.named[name]
	}
	return thing
}

// Names are the names that are known at a place, in the order of declaration.
func (s *Scopes[T]) Names(at schema.Pos) []string {
	if in := s.files[at.File]; in != nil {
		return in.order
	}
	return nil
}
