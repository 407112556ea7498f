// Package idem is the runtime library of the code that idemgen generates. It applies every Kafka
// event to Postgres with exactly-once effect.
//
// The principle is to decide in Go and assert in SQL. A partition's owner decides from memory
// what a batch of records does. All of that memory is a function of the partition's ledger up to
// one row. The first statement of every transaction appends the next row: it succeeds only if
// that row is still the last one, and raises an error otherwise. So effects, position, keys and
// dead letters commit in one transaction or not at all. After a lost reply, appending again shows
// whether the transaction committed. An owner that lost its partition cannot write. Kafka's
// committed offset is only a hint. docs/protocol.md describes the whole protocol.
//
// Service code uses this package in handlers ([Tx], [DeliveryFrom], [Permanent], [RetryAfter]) and
// in main ([Consumer.Run], [Consumer.Health], [Consumer.Stats]). Generated code mostly calls
// package wire. Together with the packages below it, package idem imports only pgx and the
// standard library. It must not import a Kafka client, which comes in through [Source].
package idem
