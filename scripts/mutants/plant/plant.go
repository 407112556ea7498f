// Package plant changes the module's sources at a place that is named by what stands there:
// a declaration, and a statement or an expression in it. White space, comments, the file
// within the package and lines elsewhere do not matter. It must not import anything of the
// module: it reads sources that may not compile.
//
// A place is a directory and the name of a declaration in it or below it: Name, Type.Method,
// or in a .sql file the name of what a CREATE statement makes. It must be the only one of its
// name there.
//
// A pattern is Go: an expression, statements that follow each other, or "Key: value" of a
// composite literal. It must occur once in its declaration. In a pattern _ stands for any
// expression or statement, and { _ } for any block. $name does as _ does, and the code that
// takes the pattern's place may use it: Replace("min(2*$wait, _)", "$wait"). In that code $0
// is all that the pattern found.
//
// So a rename of a receiver, parameter or local that a pattern writes as _ or $name breaks
// nothing, and neither does that of a file, nor a move to another package below the directory.
// A rename breaks the bugs that write the old name out: of their declaration, of a field,
// function or type, of a local that is not a part of the pattern and that the code uses. Then
// [Sources.Apply] returns an error that names candidates, or the changed source does not
// compile. It does not try another name in the old one's place: a bug that is planted by a
// guess may be another bug, which its test catches as well.
package plant

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Edits are changes of sources, made one after the other.
type Edits struct {
	place place
	list  []edit
}

// place is a declaration in a directory, or below it.
type place struct{ dir, name string }

type edit struct {
	place
	how     way
	pattern string
	code    string
}

// way is what an edit does with the place that its pattern finds.
type way string

const (
	replace   way = "replace"
	condition way = "condition"
	drop      way = "drop"
	before    way = "before"
	after     way = "after"
	text      way = "text"
	declare   way = "declare"
)

// In begins changes of the declaration called name, in dir or below it.
func In(dir, name string) Edits { return Edits{}.In(dir, name) }

// In goes on with another declaration.
func (e Edits) In(dir, name string) Edits {
	e.place = place{filepath.Clean(dir), name}
	return e
}

// Replace puts code in the place of the pattern.
func (e Edits) Replace(pattern, code string) Edits { return e.with(replace, pattern, code) }

// Drop removes the statements of the pattern, or the one that its expression stands in.
func (e Edits) Drop(pattern string) Edits { return e.with(drop, pattern, "") }

// Before puts code in front of the statement of the pattern, or the one that its expression
// stands in.
func (e Edits) Before(pattern, code string) Edits { return e.with(before, pattern, code) }

// After puts code behind the statement of the pattern, or the one that its expression stands in.
func (e Edits) After(pattern, code string) Edits { return e.with(after, pattern, code) }

// Condition puts code in the place of a condition: of an if, a loop, a case, a result, or a
// part of one.
func (e Edits) Condition(pattern, code string) Edits { return e.with(condition, pattern, code) }

const never, always = "(" + whole + " && false)", "(" + whole + " || true)"

// Never makes a condition false. It is still evaluated.
func (e Edits) Never(pattern string) Edits { return e.Condition(pattern, never) }

// Always makes a condition true. It is still evaluated.
func (e Edits) Always(pattern string) Edits { return e.Condition(pattern, always) }

// Plain reports whether all of the change is one condition that is always true or false, or one
// dropped statement. Package draw draws such changes.
func (e Edits) Plain() bool {
	if len(e.list) != 1 {
		return false
	}
	ed := e.list[0]
	return ed.how == drop || ed.how == condition && (ed.code == never || ed.code == always)
}

// Text replaces text, for SQL and what else is no Go syntax of its own. Any white space in old
// stands for any.
func (e Edits) Text(old, new string) Edits { return e.with(text, old, new) }

// Declare adds a declaration to the file that the place is in.
func (e Edits) Declare(code string) Edits { return e.with(declare, "", code) }

func (e Edits) with(how way, pattern, code string) Edits {
	e.list = append(e.list[:len(e.list):len(e.list)], edit{e.place, how, pattern, code})
	return e
}

// String is all that the edits say. Edits that differ have different texts.
func (e Edits) String() string {
	var out strings.Builder
	for _, ed := range e.list {
		fmt.Fprintf(&out, "%q %q %s %q %q\n", ed.dir, ed.name, ed.how, ed.pattern, ed.code)
	}
	return out.String()
}
