package syntax

import "strings"

// checkHint is also for keys that people look for in a column or a field.
const checkHint = "a CHECK in a migration of yours, or Go code (handle: true), rejects a value: such an event becomes a dead letter"

// withoutKey are words of articles and other tools for what no key of this language is for, with
// what to write instead. What a key is for is in the table of the key. Words are written as fold
// leaves them, with _ for a dot.
var withoutKey = []looked{
	{also: "store storage backend redis cache key_store",
		write: "leave it out: keys are in Postgres and commit with the rows, which another store could not"},
	{also: "exactly_once eos processing_guarantee semantics delivery delivery_semantics transactional transactional_id transaction transactions " +
		"isolation_level enable_idempotence acks auto_commit enable_auto_commit commit",
		write: "leave it out: in every spec position, keys and rows commit in one transaction of Postgres, and Kafka's own are not needed"},
	{also: "concurrency parallelism workers threads",
		write: "partitions run side by side, the events of one in their order: for more, add partitions and instances"},
	{also: "condition when if filter predicate only_if unless require requires precondition",
		write: "conditions are if_newer, if_exists and if_missing; for others write Go code, handle: true"},
	{also: "check checks constraint constraints validate validation", write: checkHint},
	{also: "emit emits produce produces publish publishes send", write: toOutbox},
	{also: "leader_election",
		write: "leave it out: one instance applies a partition, and the ledger fences every other one"},
	{also: "go_type golang_type type_override override overrides",
		write: "leave it out: fields have the Go types of docs/encodings.md, and Go code converts them, handle: true"},
	{also: "inbox inbox_table processed_messages processed_table",
		write: "leave it out: the runtime's own tables, made by the migrations, keep what was applied"},
}

// insteadOf says what to write in place of a key that was looked for; "" if nothing is known.
func insteadOf(key string) string {
	return lookedFor[strings.ReplaceAll(fold(key), ".", "_")]
}
