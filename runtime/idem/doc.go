// Package idem is the runtime library of the code that idemgen generates. It applies every Kafka
// event to Postgres with exactly-once effect.
//
// The principle is to decide in Go and assert in SQL. A partition's owner decides from memory what
// a batch of records does. It can rebuild everything that it remembers from the rows of the
// partition's ledger, up to the last one that it knows. Every transaction starts by appending a
// row after that one; if another row is already there, the append fails. So effects, position,
// keys and dead letters commit in one transaction or not at all, and an owner that lost its
// partition cannot write. If the reply to a commit is lost, the owner appends again: the row that
// it meets carries the token of the transaction that committed. Kafka's committed offset is only
// a hint. docs/protocol.md describes the whole protocol.
//
// Service code uses this package in handlers ([Tx], [DeliveryFrom], [Permanent], [RetryAfter]) and
// in main ([Consumer.Run], [Consumer.Health], [Consumer.Stats]). Generated code mostly calls
// package wire. Package idem, and what it imports from this module, depend only on pgx and the
// standard library. It must not import a Kafka client: you pass one in as a [Source].
package idem
