// Package outbox sends the rows of a service's outbox to Kafka and deletes them. It polls the
// table; how records get to a broker, a [Producer] knows. It must not import package idem: a
// program may relay without being a consumer.
//
//	connect -> standby -> lead: read -> send -> delete -> read ...
//	   ^                    |
//	   +--- any error of the database, or a Sender that is broken
//
// There is no cursor. What is in the table is not sent yet, so a transaction that commits late is
// found by the next read. Each read begins at the lowest row and is one snapshot: of one
// aggregate, which is a topic and a record key, a snapshot shows no row without those before it.
//
// One process leads at a time, by an advisory lock of the session that also reads and deletes: who
// loses the lock has lost the connection. A process that dies between an acknowledgement and the
// delete leaves rows that are sent again, with the same Idempotency-Key.
//
// Promise: each row is sent at least once; first occurrences of one aggregate are in the order
// of its rows. A row that Kafka does not take holds back later rows of its aggregate, no others.
package outbox
