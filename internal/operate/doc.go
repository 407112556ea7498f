// Package operate is the operators' layer: it queries and changes a service's data in its
// database, such as streams, dead letters, and the outcome of a record. All results are plain Go
// values, for commands or pages to show.
//
// Queries change nothing, and work on a standby. A request about a letter is written into the
// letter's row, and the owner of the partition carries it out. Any other change appends one row to
// a ledger, with the operator and the reason: nothing else is written, and no row is changed or
// removed. The row fences the worker that owns the partition: its next append fails, and it takes
// the partition over again immediately. Of two operators, or an operator and a worker, only one
// can append after the same row.
//
// The package does not use Kafka: the caller must know whether an offset exists. It must not
// import any package of this module but halt, ledger, process, record, visible and wire.
package operate
