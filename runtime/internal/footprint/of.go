package footprint

// Footprint is what a statement does besides reading and writing rows, or may do.
type Footprint uint8

// Footprints.
const (
	Leaves Footprint = 1 << iota // something stays behind for what runs after it
	Nests                        // a savepoint is set, released or rolled back to
	Ends                         // the transaction ends
	Copies                       // COPY, which has a protocol of its own
)

// Of returns what a statement leaves behind. A text of more than one statement must not be sent:
// only the first one is read for Nests and Ends.
func Of(sql string) Footprint {
	if None(sql) {
		return 0
	}
	l := lexer{rest: sql}
	first := l.next()
	for first == (token{symbol, ";"}) { // an empty statement, which the server passes over
		first = l.next()
	}
	switch {
	case first.is("copy"):
		return Leaves | Copies
	case first.is("savepoint", "release"):
		return Leaves | Nests
	case first.is("commit", "abort", "end", "begin", "start"), first.is("prepare") && l.next().is("transaction"):
		return Leaves | Ends
	case first.is("rollback"):
		if t := l.next(); t.is("to") || t.is("work", "transaction") && l.next().is("to") {
			return Leaves | Nests
		}
		return Leaves | Ends
	}
	return Leaves
}
