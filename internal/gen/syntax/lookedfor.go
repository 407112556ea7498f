package syntax

import "strings"

// checkHint is also for keys that people look for in a column or a field.
const checkHint = "reject values by a CHECK in a migration of your own, or in Go code (handle: true): such an event becomes a dead letter"

// withoutKey are words of articles and other tools for what no key of this language is for, with
// what to write instead. What a key is for is in the table of the key. Words are written as fold
// leaves them, with _ for a dot.
var withoutKey = []looked{
	{also: "store storage backend redis cache key_store",
		write: "leave it out: keys are stored in Postgres, because they must commit together with the rows"},
	{also: "exactly_once eos processing_guarantee semantics delivery delivery_semantics transactional transactional_id transaction transactions " +
		"isolation_level enable_idempotence acks auto_commit enable_auto_commit commit",
		write: "leave it out: position, keys and rows always commit in one Postgres transaction, and Kafka transactions are not needed"},
	{also: "concurrency parallelism workers threads",
		write: "partitions are processed concurrently, and each one in order: for more concurrency, add partitions and instances"},
	{also: "condition when if filter predicate only_if unless require requires precondition",
		write: "the conditions are if_newer, if_exists and if_missing; write any other in Go code, handle: true"},
	{also: "check checks constraint constraints validate validation", write: checkHint},
	{also: "emit emits produce produces publish publishes send", write: toOutbox},
	{also: "leader_election",
		write: "leave it out: one instance applies a partition, and the ledger fences every other one"},
	{also: "go_type golang_type type_override override overrides",
		write: "leave it out: fields have the Go types of docs/encodings.md; convert them in Go code, handle: true"},
	{also: "inbox inbox_table processed_messages processed_table",
		write: "leave it out: the migrations create tables in which the runtime keeps the applied keys"},
}

// insteadOf says what to write in place of a key that was looked for; "" if nothing is known.
func insteadOf(key string) string {
	return lookedFor[strings.ReplaceAll(fold(key), ".", "_")]
}
