// Package stream is what operators do to partitions: it lists their ledgers, and it appends
// the row with which a halted partition goes on. idemgen stream is its command line.
//
// It also reads dead letters, and asks their owner to replay or discard them: what is asked is in
// the letter's row. idemgen dead is the command line of that.
//
// Every other change is one row after the chain's last row, with who and why in it; nothing
// else is written, and no row is changed or removed. The row ends the memory of a worker that is
// alive: its next append is refused, and it takes the partition over again at once. Two
// operators, or an operator and a worker, cannot both append after the same row.
//
// It knows nothing of Kafka: whether an offset exists, the caller must know. It must not import
// any package of this module but ledger, record and wire.
package stream
