package generator

import "github.com/idemgen/idemgen/internal/gen/syntax"

// Diagnostic is an error of a spec, for programs.
type Diagnostic struct {
	File    string `json:"file"`   // as given
	Line    int    `json:"line"`   // from 1; 0 means the whole file
	Column  int    `json:"column"` // from 1, in characters
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// diagnostics returns the errors of one spec.
func diagnostics(file string, problems syntax.Diagnostics) []Diagnostic {
	var all []Diagnostic
	for _, d := range problems.Sorted() {
		all = append(all, Diagnostic{file, d.Pos.Line, d.Pos.Col, d.Code, d.Message, d.Hint})
	}
	return all
}
