package generator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/internal/pgtable"
)

// specOf is a first spec for tables that exist already, with an event that inserts into one of
// them.
func specOf(s Start) ([]byte, error) {
	section, in := describe(s.Tables)
	if len(in) == 0 {
		return nil, fmt.Errorf("a spec cannot describe these tables:\n%s", strings.TrimPrefix(section, "tables:\n"))
	}
	start := scaffold.Existing{Consumer: s.Consumer, Package: s.Package, Tables: section}
	for _, n := range in {
		if fields, leave := n.sampleFields(); slices.Contains(n.Rights, "INSERT") && len(fields) > 0 && !n.View && known(&n) {
			start.Table, start.Fields, start.Leave = n.key, strings.Join(fields, ", "), strings.Join(leave, ", ")
			break
		}
	}
	return scaffold.SpecOf(start)
}

// known reports whether the spec knows every column that a row cannot be without.
func known(n *described) bool {
	return !slices.ContainsFunc(n.Columns, func(c pgtable.Column) bool {
		return n.columns[c.Name] == "" && !c.Nullable && c.Default == "" && c.Always == ""
	})
}

// Describe returns the section tables of a spec for tables of a database.
func Describe(tables []*pgtable.Table) string {
	section, _ := describe(tables)
	return section
}
