package check

import (
	"cmp"
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// goNames are the Go names of one scope: of the package, or of one struct.
type goNames struct {
	report *syntax.Diagnostics
	// fold makes names equal that differ in case only, unless it is nil: the package also holds
	// each name with a small first word (orderPlacedSpace), where SKUSold and SkuSold meet.
	fold func(string) string
	used map[string]goNameUse
}

// goNameUse is one claim to a Go name.
type goNameUse struct {
	what string // `field "order_id"`; "" = a name of the generated code
	name string
	pos  syntax.Pos
	fix  string // hint; "" = another name
}

func (g *goNames) key(name string) string {
	if g.fold != nil {
		return g.fold(name)
	}
	return name
}

func newGoNames(report *syntax.Diagnostics) *goNames {
	return &goNames{report: report, used: map[string]goNameUse{}}
}

// reserve takes a name for the generated code itself.
func (g *goNames) reserve(name string) { g.used[g.key(name)] = goNameUse{name: name} }

// take claims a name for a thing of the spec, and reports nothing.
func (g *goNames) take(name string, use goNameUse) {
	use.name = name
	g.used[g.key(name)] = use
}

// add claims a name for a thing of the spec and reports E202 if it is taken.
func (g *goNames) add(name string, use goNameUse) {
	first, taken := g.used[g.key(name)]
	if !taken {
		g.take(name, use)
		return
	}
	become := "Go name " + name
	if first.name != name {
		become = fmt.Sprintf("Go names that differ in case only, %s and %s", first.name, name)
	}
	if first.what == "" {
		g.report.Add(use.pos, "E202", fmt.Sprintf("%s becomes Go name %s, which the generated code declares itself", use.what, name), cmp.Or(use.fix, "give the entry another name"))
		return
	}
	g.report.Add(use.pos, "E202", fmt.Sprintf("%s and %s both become %s", first.what, use.what, become),
		fmt.Sprintf("%s; the first is on %s", cmp.Or(use.fix, "give one of them another name"), first.pos.OnLine()))
}
