// Package chain is the protocol of the chain (docs/protocol.md) as a small state machine
// that is explored exhaustively: one partition with three messages, the third a producer's
// copy of the first; two workers; a database whose statements run in steps, so that any
// number of them may be under way at once. Workers take every step through
// [protocol.Next], as a partition in package engine does.
//
// What can go wrong is bounded by numbers ([Bound]): reassignment in any overlap, crashes, lost
// replies, killed backends, failovers that cut any suffix of the chain, records that the database
// or a handler refuses, transactions that end early, other errors, take-overs from STANDBY,
// retention, an operator who acts or pauses. Batch boundaries are free. A first owner may be late
// with its genesis.
//
// Abstracted away: time and time-outs (they may happen whenever the bound allows), Kafka
// (every message is always there), keys of other partitions (a race for one just happens),
// statements other than the append (a transaction is its append), which row locks are held,
// the content of messages, a primary that lives on after a failover, the client's commit of
// offsets, the outbox. Leases have a model of their own, package effects.
//
// It must not import any package of this module but protocol.
package chain
