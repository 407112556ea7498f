package footprint

import "strings"

// Footprint is what a text does besides reading and writing rows, or may do.
type Footprint uint8

// Footprints.
const (
	Leaves Footprint = 1 << iota // something stays behind for what runs after it
	Nests                        // a savepoint is set, released or rolled back to
	Ends                         // the transaction ends, or the text makes its end possible
)

// Of returns what the text leaves behind.
func Of(sql string) (f Footprint) {
	if None(sql) {
		return 0
	}
	f = Leaves
	text := strings.ToLower(sql) // no word of these can be written in another way
	if strings.Contains(text, "savepoint") || strings.Contains(text, "rollback") || strings.Contains(text, "release") {
		f |= Nests
	}
	if ends(sql) || strings.Contains(text, commitSetting) {
		f |= Ends
	}
	return f
}

// commitSetting is what the ledger's trigger refuses a COMMIT by (package ledger).
const commitSetting = "idem.commit"

// ends reports whether a statement of the text begins with words that end a transaction or begin
// one. It is no proof: it stops at what it cannot read, and at the body of an SQL function, which
// has an END of its own.
func ends(sql string) bool {
	l := lexer{rest: sql, settled: true}
	first := true
	for t := l.next(); t.kind != nothing; t = l.next() {
		switch {
		case t.is("atomic"):
			return false
		case !first:
		case t.is("commit", "abort", "end", "begin", "start"), t.is("prepare") && l.next().is("transaction"):
			return true
		case t.is("rollback"):
			if t = l.next(); t.is("work", "transaction") {
				t = l.next()
			}
			if !t.is("to") {
				return true
			}
		}
		first = t == token{symbol, ";"}
	}
	return false
}
