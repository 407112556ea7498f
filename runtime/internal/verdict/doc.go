// Package verdict says what an error of a transaction means: whose fault it is, what the
// protocol's table calls it, and what may be told of it. Data in, verdict out: it has no
// state and does no I/O. docs/protocol.md has its table.
//
//	error -> Of: Class          what the database meant (docs/protocol.md, errors)
//	      -> Judge: Verdict     whose fault that is: nobody's, a record's, a handler's
//	      -> Describe           the same in words, without values of a record
//
// What follows for the records is decided in package retry. It must not import any package of
// this module but halt, internal/protocol, outage, session and wire.
package verdict
