package pgtable

import "testing"

// A column holds what another type can be if each of its values is one of the column's, with all
// of its digits.
func TestAColumnHoldsAnotherType(t *testing.T) {
	for _, c := range []struct {
		have, want string
		holds      bool
	}{
		{"uuid", "uuid", true}, {"text", "uuid", false}, {"timestamp", "timestamptz", false},
		{"integer", "smallint", true}, {"bigint", "smallint", true}, {"bigint", "integer", true},
		{"smallint", "integer", false}, {"integer", "bigint", false}, {"numeric", "integer", false},
		{"text", "varchar(5)", true}, {"varchar(5)", "varchar(5)", true}, {"varchar(6)", "varchar(5)", true}, {"varchar(4)", "varchar(5)", false}, {"varchar(5)", "text", false},
		{"text", "char(2)", true}, {"varchar(2)", "char(2)", true}, {"varchar(1)", "char(2)", false}, {"char(3)", "char(2)", false}, {"char(3)", "varchar(2)", false},
		{"numeric", "numeric(10,2)", true}, {"numeric(10,2)", "numeric", false}, {"numeric(10,2)", "numeric(10,2)", true},
		{"numeric(12,2)", "numeric(10,2)", true}, {"numeric(11,3)", "numeric(10,2)", true}, {"numeric(10,3)", "numeric(10,2)", false},
		{"numeric(12,1)", "numeric(10,2)", false}, {"numeric(6)", "numeric(5,0)", true}, {"numeric(4)", "numeric(5)", false},
		{"text", "numeric(5,2)", false}, {"integer", "numeric(5)", false},
	} {
		if got := holds(c.have, c.want); got != c.holds {
			t.Errorf("%s holds %s: %v", c.have, c.want, got)
		}
	}
}
