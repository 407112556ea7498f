package outbox

import _ "embed"

//go:embed guard.sql
var guardSQL string // the block that the migrations of the runtime have

//go:embed idem_outbox.sql
var tableSQL string

//go:embed relay.sql
var relaySQL string

//go:embed debezium.sql
var debeziumSQL string

//go:embed dead_letters.sql
var deadLettersSQL string

// Sender says what sends the events of the table.
type Sender int

const (
	// ByRelay means a [Relay]: events stay in the table until the broker has acknowledged them,
	// and a commit wakes the relay.
	ByRelay Sender = iota
	// ByDebezium means Debezium's connector for Postgres. It reads events from the write-ahead
	// log, so events are deleted from the table in the transaction that writes them.
	ByDebezium
)

// Migration returns the SQL that creates the table, for one of the two senders. It can be applied
// again, even for the other sender. It fails if another role made a table or function under one of
// the names of the outbox or the runtime.
func Migration(by Sender) string {
	if by == ByDebezium {
		return guardSQL + tableSQL + debeziumSQL
	}
	return guardSQL + tableSQL + relaySQL
}

// DeadLetterMigration returns the SQL that makes an event of each dead letter of a consumer, in
// the transaction that stores it, once the consumer has a topic for them:
//
//	INSERT INTO idem_dead_letter_topic (consumer, topic) VALUES ('order-projector', 'orders.dead');
//
// Apply it after the migrations of idemgen's runtime and [Migration]. It can be applied again. It
// fails if Debezium sends the events. docs/outbox.md describes the records.
func DeadLetterMigration() string { return guardSQL + deadLettersSQL }
