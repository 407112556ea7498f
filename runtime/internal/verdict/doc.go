// Package verdict determines what an error of a transaction means: what is at fault, which event
// of the protocol it is, and what may be shown of it. It has no state and does no I/O.
// docs/protocol.md has the table.
//
//	error -> Of: Class          what the database meant (docs/protocol.md, errors)
//	      -> Judge: Verdict     whose fault that is: nobody's, a record's, a handler's
//	      -> Describe           the same in words, without values of a record
//
// Package retry decides the consequences for the records. It must not import any package of this
// module but halt, internal/protocol, outage, session and wire.
package verdict
