package syntax

import (
	"cmp"
	"slices"
)

// Diagnostic is one problem of a spec. The caret is Pos.Width wide.
type Diagnostic struct {
	Pos     Pos
	Code    string // "E104"
	Message string
	Hint    string // one line, or ""
}

// Diagnostics collects the problems of one spec. The zero value is empty and ready.
type Diagnostics struct {
	list []Diagnostic
	kind string // what messages call the file; "" = a spec
	// masked are positions of values that no excerpt shows (E112).
	masked []Pos
}

// noun is what messages call the file: a spec, or a case.
func (ds *Diagnostics) noun() string { return cmp.Or(ds.kind, "spec") }

// Add adds a problem. Hint may be "".
func (ds *Diagnostics) Add(pos Pos, code, message, hint string) {
	ds.list = append(ds.list, Diagnostic{Pos: pos, Code: code, Message: message, Hint: hint})
}

// Append adds the problems of more.
func (ds *Diagnostics) Append(more Diagnostics) {
	ds.list = append(ds.list, more.list...)
	ds.masked = append(ds.masked, more.masked...)
}

// Sorted returns the problems by position, then code, then text; equal ones once.
func (ds Diagnostics) Sorted() []Diagnostic {
	out := slices.Clone(ds.list)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Hint, b.Hint))
	})
	return slices.Compact(out)
}

// Errors counts the problems.
func (ds Diagnostics) Errors() int { return len(ds.Sorted()) }

// Mask hides the text at pos in every excerpt.
func (ds *Diagnostics) Mask(pos Pos) {
	ds.masked = append(ds.masked, pos)
}
