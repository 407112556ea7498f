package check

import (
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// declared is a type or a table, of the spec or of a library.
type declared struct {
	name     schema.Text
	goName   string
	imported bool
}

// addDeclared claims the names of types or of tables; what says which. Those of libraries come
// first: what can be renamed for this service alone is what the service declares. Two things of
// one name are refused even if go_name tells them apart, because their names stand in the state,
// without alias.
func addDeclared(g *goNames, what string, all []declared) {
	named := map[string]schema.Pos{}
	for _, imported := range []bool{true, false} {
		for _, d := range all {
			first, taken := named[d.name.Value]
			switch {
			case d.imported != imported:
			case taken:
				g.report.Add(d.name.Pos, "E202", what+" "+wording.Quote(d.name.Value)+" has the name of an imported one",
					"give one of them another name: generated code has both without alias; the first is on "+first.From(d.name.Pos))
			default:
				named[d.name.Value] = d.name.Pos
				g.add(d.goName, goNameUse{what: what + " " + wording.Quote(d.name.Value), pos: d.name.Pos})
			}
		}
	}
}
