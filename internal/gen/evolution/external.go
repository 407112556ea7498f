package evolution

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

const (
	dropLater    = "drop it, if nothing else needs it, once the last process of the previous version has ended"
	beforeStart  = "idemgen does not create this table: change the database before this version starts, because it checks the table at startup"
	stillNeeded  = "this version starts with or without it; the previous version does not start without it"
	asksForLess  = "this version does not check for it; the previous version does"
	unnamedThere = "this version does not write the column; the previous version does not start without it"
)

// external says what an edit of a table that idemgen does not make means; "" of another edit.
func (c *comparison) external(e edit) (v Verdict, why, do string) {
	if len(e.path) < 2 || e.path[0] != "tables" {
		return "", "", ""
	}
	is, was := isExternal(c.now, e.path[1]), isExternal(c.old, e.path[1])
	last, gone := e.path[len(e.path)-1], e.now == nil
	switch {
	case last == "description" && !named(e.path, len(e.path)-1):
		return "", "", ""
	case last == "external" && len(e.path) == 3 && is:
		return Compatible, "no migration changes the table from now on; earlier changes stay", ""
	case last == "external" && len(e.path) == 3 && was:
		return Compatible, "migrations create and change the table from now on", ""
	case gone && len(e.path) == 2 && was:
		return Compatible, stillNeeded, dropLater
	case !is:
		return "", "", "" // the changes of its own tables were told
	case gone && len(e.path) == 4 && e.path[2] == "columns":
		return ByHand, unnamedThere, "if it is NOT NULL without a default, give it one before this version starts; " + dropLater
	case gone && len(e.path) == 3 && (last == "unique" || last == "foreign_keys"):
		return Compatible, asksForLess, dropLater
	}
	return ByHand, beforeStart, ""
}

// isExternal reports whether a version has a table that idemgen does not make.
func isExternal(v Version, table string) bool {
	return slices.ContainsFunc(v.Service.Tables, func(t *model.Table) bool { return t.Name == table && t.External })
}
