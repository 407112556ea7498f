package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// formerName checks an earlier name of one thing. There says that the spec has
// something of that name today; former holds those that were read before.
func formerName(report *schema.Diagnostics, from schema.Text, what, name string, there bool, former map[string]string) bool {
	other, twice := former[from.Value]
	former[from.Value] = name
	switch {
	case from.Value == name:
		report.Add(from.Pos, "E609", fmt.Sprintf("renamed_from of %s %s is its own name", what, wording.Quote(name)), "drop renamed_from, or write the name that it had before")
	case there:
		report.Add(from.Pos, "E609", fmt.Sprintf("%s %s is in the spec, so %s cannot be what became of it", what, wording.Quote(from.Value), wording.Quote(name)),
			"drop renamed_from, or the entry of that name; to exchange two names, do it in two steps")
	case twice:
		report.Add(from.Pos, "E609", fmt.Sprintf("%ss %s and %s cannot both have been %s", what, wording.Quote(other), wording.Quote(name), wording.Quote(from.Value)), "keep renamed_from of one of them")
	default:
		return true
	}
	return false
}
