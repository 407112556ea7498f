// Package idem is the small library behind code that idemgen generates: it applies
// every Kafka event to Postgres exactly once in effect.
//
// Decide in Go, assert in SQL. A partition's owner decides from memory what a batch of
// records does. All that memory is a function of the partition's ledger up to one row,
// and the first statement of every transaction appends the next row: it succeeds only if
// that very row is still the last one, and raises otherwise. So effects, position, keys
// and dead letters commit in one transaction or not at all, a lost reply is settled by
// appending again, and an owner that lost its partition cannot write. Kafka's committed
// offset is only a hint. docs/protocol.md tells the whole protocol and its ancestors.
//
// Service code meets this package in handlers ([Tx], [DeliveryFrom], [Permanent],
// [RetryAfter]) and in main ([Consumer.Run], [Consumer.Health], [Consumer.Stats]). What
// generated code calls is in package wire. With the packages below it, it
// imports pgx and the standard library only. It must not import a Kafka client: that comes in
// through [Source].
package idem
