// Package operate is what people ask and do about a service in its database: its streams, its dead
// letters, and what became of a record. Everything is a plain Go value, which a command or a page
// shows.
//
// Reading changes nothing, and a standby will do. What is asked about a letter is written into the
// letter's row; the owner of the partition does it. Any other change is one row after the last row
// of a ledger, with who and why in it: nothing else is written, and no row is changed or removed.
// The row fences the worker that owns the partition: its next append is refused, and it takes the
// partition over again at once. Of two operators, or an operator and a worker, only one can append
// after the same row.
//
// The package knows nothing of Kafka: whether an offset exists, the caller must know. It must not
// import any package of this module but ledger, record and wire.
package operate
