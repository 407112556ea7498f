package sqlcode

import (
	"github.com/idemgen/idemgen/generator/model"
)

// A statement under which others stand tells them the numbers of the rows to which it was applied,
// in a setting that ends with the transaction. So one round trip holds them all.

// setting is the name of the setting in which a step tells its numbers.
func setting(s *model.Step) string { return quote("idem." + s.GoName) }

// numberName is the column by which a step tells or asks.
func numberName(s *model.Step) string {
	name := "number"
	if s.Asks {
		name = "of_number"
	}
	return ident(free(name, func(name string) bool { return hasColumn(s.Table, name) }))
}

// asked is the condition by which a step leaves out rows; "" if it leaves out none.
func asked(s *model.Step) string {
	if !s.Asks {
		return ""
	}
	in := " IN "
	if s.Under.Else {
		in = " NOT IN "
	}
	return numberName(s) + in + "(SELECT unnest(current_setting(" + setting(s.Under.Of) + ")::integer[]))"
}

// telling is the end of a statement that tells, as its template prints it.
type telling struct {
	Setting string
	Events  string // the rows that were sent
	Number  string // their column
	Applied string // the condition by which one of them was applied
}

func tell(s *model.Step, events, applied string) (string, error) {
	return render("tell", telling{setting(s), events, numberName(s), applied})
}

// exists is the condition that a row of what was done belongs to a row that was sent.
func exists(done string, on []string) string {
	return "EXISTS (SELECT FROM " + done + prefixed(" WHERE ", on) + ")"
}
