package outbox

import _ "embed"

//go:embed idem_outbox.sql
var tableSQL string

//go:embed relay.sql
var relaySQL string

//go:embed debezium.sql
var debeziumSQL string

//go:embed dead_letters.sql
var deadLettersSQL string

// Sender is what sends the events of the table.
type Sender int

const (
	// ByRelay is a relay of this package: events stay in the table until the broker has
	// acknowledged them, and a commit wakes the relay.
	ByRelay Sender = iota
	// ByDebezium is Debezium's connector for Postgres. It reads them from the log of transactions,
	// so that they leave the table in the transaction that writes them.
	ByDebezium
)

// Migration is the SQL that makes the table, for one of the two senders. It can be applied again,
// also for the other sender.
func Migration(by Sender) string {
	if by == ByDebezium {
		return tableSQL + debeziumSQL
	}
	return tableSQL + relaySQL
}

// DeadLetterMigration is the SQL with which a relay can send dead letters: see [DeadLetters]. It
// comes after the migrations of idemgen's runtime, and can be applied again. Letters that are
// dead already are sent, too, unless it is followed by
//
//	UPDATE idem_dead_letter SET sent_at = now();
func DeadLetterMigration() string { return deadLettersSQL }
