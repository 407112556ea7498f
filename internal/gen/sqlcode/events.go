package sqlcode

import (
	"github.com/idemgen/idemgen/internal/gen/model"
)

// events writes what a step's events send as rows under a name. unnamed is what the parameter of
// no column is called, and ordinal a column that numbers the rows; none if it is empty.
func events(s *model.Step, name, unnamed, ordinal string) string {
	var arrays, columns []string
	for i, p := range s.Params() {
		arrays = append(arrays, "$"+itoa(i+1)+"::"+paramType(s.TypeOf(p.Value), p.Column)+"[]")
		column := unnamed
		switch {
		case p.Value.Kind == model.SentValue:
			column = ident(sentFlag(s.Table, p.Column))
		case p.Column != nil:
			column = columnIdent(p.Column)
		}
		columns = append(columns, column)
	}
	numbered := ""
	if ordinal != "" {
		numbered = " WITH ORDINALITY"
		columns = append(columns, ordinal)
	}
	return "unnest(" + list(arrays) + ")" + numbered + " AS " + name + " (" + list(columns) + ")"
}

// sentOrFixed is what an assignment has for its column, in the column's type: what an event sent,
// or what the spec says.
func sentOrFixed(s *model.Step, a model.Assign) (string, error) {
	if !a.Value.Sent() {
		return typedFixed(a)
	}
	return columnIdent(a.Column) + cast(s.TypeOf(a.Value), a.Column), nil
}

// named names a value in a select list, unless it has that name already.
func named(value, name string) string {
	if value == name {
		return name
	}
	return value + " AS " + name
}
