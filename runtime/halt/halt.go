// Package halt names the reasons for which a partition is halted until an operator acts, and the
// ways out of each. It must not import any other package of this module.
package halt

// Code says why a partition is halted. Its text is stable: alerts may match it, and
// docs/operations.md has an entry for each.
type Code string

// Why a partition is halted.
const (
	TopicRecreated    Code = "topic-recreated"       // the topic was deleted and recreated, or is in another cluster
	RetentionPassed   Code = "retention-passed"      // records were deleted before they were read
	LogTruncated      Code = "log-truncated"         // the log ends below the ledger's position
	PartitionsChanged Code = "partitions-changed"    // records of the same key may now be in another partition
	LedgerMissing     Code = "ledger-missing"        // the group has a committed offset, but the database has no ledger
	LedgerGone        Code = "ledger-gone"           // the partition is known, but the rows of its ledger are gone
	KeysLost          Code = "keys-lost"             // keys of copies: anywhere are missing, which a restore lost
	NewerVersion      Code = "newer-version"         // a version ran here whose identity of events this version does not know
	RecordRefused     Code = "record-refused"        // a record fails, and the spec says stop
	DeadLetters       Code = "too-many-dead-letters" // on_failure.stop_after was reached
	LetterRefused     Code = "dead-letter-refused"   // the dead letter of a record cannot be written
	Handler           Code = "handler"               // the service's Go code is missing, stuck, or ended the transaction
	Database          Code = "database"              // schema, privileges, corruption, or an unknown error
	Pooler            Code = "pooler"                // a connection pooler without prepared statements
	Runtime           Code = "runtime"               // a bug in the runtime
	Paused            Code = "paused"                // an operator stopped it for a while: nothing is broken
)

// What the two commands for a missing ledger do. The error, the help of set and docs/operations.md
// use these words.
const (
	Skips   = "the records before that offset are skipped: their rows are not written"
	Rereads = "the topic is read again from its first record: its rows are written, and its effects are called again"
)

// State returns the state of a partition that is halted for the reason.
func (c Code) State() string {
	if c == Paused {
		return "PAUSED"
	}
	return "HALTED"
}
