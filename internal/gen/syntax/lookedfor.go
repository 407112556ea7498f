package syntax

import "strings"

// Hints of [lookedFor], one for each thing that people look for under several names.
const (
	storeHint     = "leave it out: keys are in Postgres and commit with the rows, which another store could not"
	identityHint  = "what makes two records one event is idempotency_key: {source: {header: Idempotency-Key}, window: 8d}"
	reachHint     = "leave it out: a key is one of its event and topic; what else it is unique within is a part of source, source: [tenant, id]"
	windowHint    = "how long a key is known is window: 8d, in idempotency_key"
	letterHint    = "dead letters are rows of idem_dead_letter, without a key for it; on_failure: {give_up: stop} halts the partition instead"
	retryHint     = "on_failure: {retries: 8} counts the calls of a handler or an effect after the first; outages are retried without end"
	backoffHint   = "write on_failure: {max_backoff: 30s}, on the topic"
	guaranteeHint = "leave it out: in every spec position, keys and rows commit in one transaction of Postgres, and Kafka's own are not needed"
	startHint     = "write start_from: earliest, latest or committed on the topic; the ledger decides once it has rows"
	groupHint     = "the group is named after consumer: <name>, and has no other name"
	parallelHint  = "partitions run side by side, the events of one in their order: for more, add partitions and instances"
	batchHint     = "write limits: {batch_events: 500}"
	timeoutHint   = "write limits: {batch_timeout: 30s}, of a transaction with all its handlers"
	conflictHint  = "insert has if_exists: skip for a row that is there, and upsert overwrites it"
	conditionHint = "conditions are if_newer, if_exists and if_missing; for others write Go code, handle: true"
	checkHint     = "a CHECK in a migration of yours, or Go code (handle: true), rejects a value: such an event becomes a dead letter"
	markHint      = "keep the row and mark it, update: <table>, by {value: true} for a column of its own"
	childrenHint  = "rows of a list are a step by themselves, insert: <table> with each: <list>"
	newerHint     = "write if_newer: <column> in the step, a version or time that the producer sets"
	lockHint      = "calls of effects that must not run side by side have lock, a key of effect: a name, and the field that tells which one is locked; a handler locks in its own transaction"
	leaderHint    = "leave it out: one instance applies a partition, and the ledger fences every other one"
	sqlHint       = "a spec holds no SQL: handle: true runs Go code in the transaction of the event"
	failureHint   = "write on_failure: {retries: 8} or {give_up: stop}"
	recordKeyHint = "what the Kafka key holds is record_key: {order_id: uuid} of the topic"
	placeHint     = "an event stands under its topic: topics: {orders.v1: {events: {...}}}"
	goTypeHint    = "leave it out: fields have the Go types of docs/spec.md, and Go code converts them, handle: true"
	inboxHint     = "leave it out: the runtime's own tables, made by the migrations, keep what was applied"
)

// lookedFor are keys that articles and other tools have for what this language says in another
// way, or need not say. They are written as fold leaves them, with _ for a dot.
var lookedFor = map[string]string{
	"store": storeHint, "storage": storeHint, "backend": storeHint, "redis": storeHint, "cache": storeHint, "key_store": storeHint,
	"dedupe": identityHint, "dedup": identityHint, "deduplicate": identityHint, "deduplication": identityHint, "dedupe_key": identityHint,
	"dedup_key": identityHint, "deduplication_id": identityHint, "deduplication_key": identityHint, "idempotent": identityHint,
	"idempotency": identityHint, "idempotence": identityHint, "message_id": identityHint, "event_id": identityHint, "unique_key": identityHint,
	"scope": reachHint, "namespace": reachHint, "key_prefix": reachHint,
	"ttl": windowHint, "expiry": windowHint, "expires": windowHint, "expire_after": windowHint, "expires_after": windowHint,
	"key_ttl": windowHint, "dedup_window": windowHint, "dedupe_window": windowHint, "deduplication_window": windowHint,
	"dlq": letterHint, "dlt": letterHint, "dead_letter": letterHint, "dead_letters": letterHint, "dead_letter_queue": letterHint, "deadletter": letterHint,
	"retry": retryHint, "retry_policy": retryHint, "max_retries": retryHint, "attempts": retryHint, "max_attempts": retryHint,
	"backoff": backoffHint, "retry_backoff": backoffHint, "retry_delay": backoffHint, "delay": backoffHint,
	"exactly_once": guaranteeHint, "eos": guaranteeHint, "processing_guarantee": guaranteeHint, "semantics": guaranteeHint,
	"delivery": guaranteeHint, "delivery_semantics": guaranteeHint, "transactional": guaranteeHint, "transactional_id": guaranteeHint,
	"transaction": guaranteeHint, "transactions": guaranteeHint, "isolation_level": guaranteeHint, "enable_idempotence": guaranteeHint,
	"acks": guaranteeHint, "auto_commit": guaranteeHint, "enable_auto_commit": guaranteeHint, "commit": guaranteeHint,
	"auto_offset_reset": startHint, "offset_reset": startHint, "initial_offset": startHint,
	"group": groupHint, "consumer_group": groupHint,
	"concurrency": parallelHint, "parallelism": parallelHint, "workers": parallelHint, "threads": parallelHint,
	"batch": batchHint, "batch_size": batchHint, "max_poll_records": batchHint,
	"timeout": timeoutHint, "handler_timeout": timeoutHint,
	"on_conflict": conflictHint, "on_duplicate": conflictHint,
	"condition": conditionHint, "when": conditionHint, "if": conditionHint, "filter": conditionHint, "predicate": conditionHint,
	"only_if": conditionHint, "unless": conditionHint, "require": conditionHint, "requires": conditionHint, "precondition": conditionHint,
	"check": checkHint, "checks": checkHint, "constraint": checkHint, "constraints": checkHint, "validate": checkHint, "validation": checkHint,
	"emit": toOutbox, "emits": toOutbox, "produce": toOutbox, "produces": toOutbox, "publish": toOutbox, "publishes": toOutbox, "send": toOutbox,
	"soft_delete": markHint, "children": childrenHint, "nested": childrenHint,
	"increment": noArithmetic, "increase": noArithmetic, "decrement": noArithmetic, "subtract": noArithmetic,
	"version_column": newerHint, "optimistic_lock": newerHint,
	"lock": lockHint, "locks": lockHint, "mutex": lockHint, "distributed_lock": lockHint, "lock_by": lockHint, "lock_key": lockHint,
	"leader_election": leaderHint,
	"sql":             sqlHint, "query": sqlHint, "statement": sqlHint, "returning": sqlHint,
	"on_error": failureHint, "error_handler": failureHint, "errors": failureHint,
	"message_key": recordKeyHint, "partition_key": recordKeyHint, "partition_by": recordKeyHint,
	"go_type": goTypeHint, "golang_type": goTypeHint, "type_override": goTypeHint, "override": goTypeHint, "overrides": goTypeHint,
	"topic": placeHint, "inbox": inboxHint, "inbox_table": inboxHint, "processed_messages": inboxHint, "processed_table": inboxHint,
}

// insteadOf says what to write in place of a key that was looked for; "" if nothing is known.
func insteadOf(key string) string {
	return lookedFor[strings.ReplaceAll(fold(key), ".", "_")]
}
