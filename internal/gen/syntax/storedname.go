package syntax

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// mostStored is how many bytes Postgres keeps of a name.
const mostStored = 63

// StoredFlaw says why no spec can have a name that a database has; "" if one can.
func StoredFlaw(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "is blank"
	case placeholder(name) != "":
		return "looks like " + placeholder(name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character"
	}
	return ""
}

// storedName reads a name as the database has it: any text that Postgres keeps whole.
func storedName(w *walker, e entry) (*Text, bool) {
	t, ok := w.full(e)
	switch {
	case !ok || w.variable(t.Pos, t.Value):
		return nil, false
	case strings.ContainsFunc(t.Value, unicode.IsControl):
		w.ds.Add(t.Pos, "E201", e.what+" has a control character", "write the name as in the database, without SQL quotes")
	case len(t.Value) > mostStored:
		w.ds.Add(t.Pos, "E204", fmt.Sprintf("%s is longer than Postgres' %d bytes", e.what, mostStored), "Postgres truncates names: write the truncated name")
	default:
		return t, true
	}
	return nil, false
}

func schemaName(w *walker, e entry) (*Text, bool) {
	t, ok := storedName(w, e)
	if ok && (strings.HasPrefix(t.Value, "pg_") || t.Value == "information_schema") {
		w.ds.Add(t.Pos, "E203", "schema name "+quote(t.Value)+" is reserved", "it belongs to Postgres: no tables can be created there")
		return nil, false
	}
	return t, ok
}

func storedTable(w *walker, e entry) (*Text, bool) {
	t, ok := storedName(w, e)
	return t, ok && freeTable(w, tableNames, t.Pos, t.Value)
}

func storedColumn(w *walker, e entry) (*Text, bool) {
	t, ok := storedName(w, e)
	if ok && slices.Contains(systemColumns, t.Value) {
		w.ds.Add(t.Pos, "E203", quote(t.Value)+" is a system column of Postgres", "no step can write it: leave it out")
		return nil, false
	}
	return t, ok
}

// freeTable refuses names of tables that are somebody else's (E203).
func freeTable(w *walker, kind nameKind, pos Pos, text string) bool {
	why := ""
	switch {
	case text == outboxTable: // see checkOutbox
		return true
	case strings.HasPrefix(text, "idem_"):
		why = "names that begin with idem_ belong to the tables of the runtime"
	case strings.HasPrefix(text, "pg_"):
		why = "Postgres looks for a table in its system catalogs first, and their names begin with pg_"
	default:
		return true
	}
	w.ds.Add(pos, "E203", kind.what+" "+quote(text)+" is reserved", why)
	return false
}
