package syntax

import "fmt"

// Spec is one spec file. A pointer is nil and a slice is empty if the key is absent or was
// refused; in the second case Broken is set.
type Spec struct {
	File        string // path as given
	Description *Text
	Consumer    *Text
	Package     *Text
	Examples    *Text // path of the sample records
	Types       []*Type
	TablesKey   Pos // the key "tables"; zero if absent
	Tables      []*Table
	Topics      []*Topic
	Limits      *Limits
	Migrations  *Migrations
	Broken      bool
}

// Load reads a spec. The Spec is never nil; what could not be read is missing in it and marked
// Broken. It never panics.
func Load(file string, data []byte) (*Spec, Diagnostics) {
	s := &Spec{File: file}
	root, ds := parse(Diagnostics{}, data)
	if root == nil {
		s.Broken = true
		if len(ds.list) == 0 {
			ds.Add(Pos{Line: 1, Col: 1, Width: 1}, "E106", "the spec must be a map, not empty",
				"a spec starts with version: 1, consumer: <name> and package: <name>")
		}
		return s, ds
	}
	w := &walker{ds: &ds}
	e := entry{what: "the spec", node: root}
	s.Broken = !walkMap(w, e, specKeys, s)
	return s, ds
}

func readVersion(w *walker, e entry, s *Spec) bool {
	t, ok := w.full(e)
	if ok && t.Value != "1" && !w.variable(t.Pos, t.Value) {
		w.ds.Add(t.Pos, "E109", fmt.Sprintf("spec version %s is not supported", quote(t.Value)), "this idemgen reads version 1")
	}
	return ok && t.Value == "1"
}
