package syntax

var eventShape = eventKeys.in(Section{Of: "an event", Rules: "topics.md#how-a-record-is-read"}).as("event")

var eventKeys = docKeys(func(v *Event) *Doc { return &v.Doc },
	key[Event]{name: "type",
		value:    put(either(constantShape, someOf(constantShape)), func(v *Event) **Texts { return &v.Type }, oneOrMore),
		text:     "String that identifies this event, or a list of such strings.",
		values:   "string, or list of strings",
		standard: "required with `event_type`",
		codes:    "E213 E402 E403",
		example:  "OrderPlaced: {type: order.placed, handle: true}"},
	key[Event]{name: "version", instead: joinedTexts},
	key[Event]{name: "tombstone",
		value: boolValue(func(v *Event) **Bool { return &v.Tombstone }),
		text:  "Whether the event is a record without a value.",
		more: "A topic can have only one such event, which has no `type`. Its fields are read from headers, the record key and " +
			"the record itself.",
		standard: "`false`",
		codes:    "E110 E306 E405",
		example:  "OrderGone: {tombstone: true, write: [delete: orders]}"},
	key[Event]{name: "root",
		value: pathOfMembers(func(v *Event) **Path { return &v.Root }),
		text:  "Path at which the event's paths start, relative to `payload.root`.",
		more: "A path that begins with `$.` is relative to the whole value. Fields of the topic are not affected. A tombstone " +
			"cannot have a root (E306).",
		standard: "`payload.root`",
		codes:    "E306",
		example:  "OrderPlaced: {root: after, fields: {total: decimal}, handle: true}"},
	key[Event]{name: "fields",
		value:    value[Event]{either(textShape, fieldsShape), readEventFields},
		text:     "Fields of the event, or the name of a type whose fields the event has.",
		values:   "map, or name of a type",
		standard: "with Avro and Protobuf, all fields of the record or message, below `root`",
		codes:    "E208 E212",
		example:  "OrderPlaced: {fields: {total: decimal, placed_at: timestamp}, handle: true}"},
	key[Event]{name: "idempotency_key",
		value:    idempotencyKeyValue(func(v *Event) **IdempotencyKey { return &v.IdempotencyKey }),
		text:     "Key by which duplicates of the event are recognized. It replaces the whole key of the topic.",
		standard: "the key of the topic",
		codes:    "E407",
		example:  "OrderPlaced: {idempotency_key: {source: order_id, window: 35d}, handle: true}"},
	key[Event]{name: "write",
		value: value[Event]{listOf(stepShape), readWrite},
		text:  "Steps, each with exactly one verb. They run in order, in the transaction that advances the position.",
		more: "An event needs at least one of `write`, `handle` and `effect` (E406), but cannot have both `handle` and `effect` " +
			"(E802). See [steps](tables.md#steps).",
		codes:   "E406",
		example: "OrderPaid:\n  write:\n    - update: orders\n      set: {state: {value: paid}}"},
	key[Event]{name: "handle",
		value:    boolValue(func(v *Event) **Bool { return &v.Handle }),
		text:     "Whether to run a Go method `(ctx, idem.Tx, event) error` after the steps, in the same transaction.",
		more:     "The method receives all fields and record-key parts.",
		standard: "`false`",
		codes:    "E406 E501",
		example:  "OrderPaid: {handle: true}",
		also:     "sql query statement returning",
		write:    "a spec contains no SQL: handle: true runs Go code in the transaction of the event"},
	key[Event]{name: "effect",
		value: put(effectShape, func(v *Event) **Effect { return &v.Effect }, readEffect),
		text: "Go method `(ctx, event)` for email, payments or webhooks. It runs before the steps, outside of the transaction " +
			"and under a lease.",
		more: "The method returns an error, or a result and an error. Calls for the same event never overlap. An event with an " +
			"effect cannot have `handle` (E802). See [effects](effects.md).",
		codes:   "E501 E801 E802",
		example: "OrderPaid: {effect: {if_interrupted: retry}}"},
	key[Event]{name: "lock", instead: "only an effect has a lock: effect: {lock: {orders: order_id}}; a handler can call pg_advisory_xact_lock in its transaction"},
	key[Event]{name: "erase_traces", instead: "to erase the records of dead letters, run idemgen dead discard TOPIC --record-key KEY --erase --reason WHY; keep and window limit how long the rest is stored"},
	key[Event]{name: "on_failure", instead: "write it on the topic; events that need another policy need a topic of their own"},
	key[Event]{name: "may_emit", instead: toOutbox},
	key[Event]{name: "accept", instead: noWarnings},
	key[Event]{name: "renamed_from", instead: "an event cannot be renamed, because its name is part of its keys; write the name that producers use under type"},
)

var effectShape = effectKeys.in(Section{Of: "effect", Rules: "effects.md"})

var effectKeys = keys[Effect]{
	{name: "if_interrupted", asked: true,
		value: wordValue(func(v *Effect) **Text { return &v.IfInterrupted }, "retry", "dead_letter"),
		text: "Policy for a call whose outcome is unknown: `retry` repeats it, and `dead_letter` leaves the decision to an " +
			"operator.",
		more: "The outcome is unknown if the process dies, the timeout expires, or the method panics; [errors](effects.md#errors) says which errors mean that. Use `retry` if the " +
			"provider deduplicates calls by the event's key. With `dead_letter`, only an operator can repeat a call.",
		codes:   "E801",
		example: "OrderPaid: {effect: {if_interrupted: dead_letter}}"},
	{name: "timeout",
		value:    durationValue(func(v *Effect) **Duration { return &v.Timeout }, "1ms", "1d"),
		text:     "Timeout of a call. When it expires, the call's context is canceled.",
		standard: "30s",
		example:  "OrderPaid: {effect: {if_interrupted: retry, timeout: 2s}}"},
	{name: "lease", instead: "leave it out: a lease expires 30s after its holder's last heartbeat"},
	{name: "result",
		value: textValue(func(v *Effect) **Text { return &v.Result }),
		text:  "Type of the call's result. Steps read its members as `result.<name>`.",
		more: "The type must have fields, each a single value (E803). The result is recorded as soon as the call returns. It is " +
			"kept for the key's window, or for 30 days without one.",
		values:  "name of a type with fields",
		codes:   "E208 E803",
		example: "UserCreated: {effect: {if_interrupted: retry, result: Receipt}}"},
	{name: "keep_result", instead: "leave it out: a result is kept for the window of the key"},
	{name: "store", instead: "choose the store in main.go: idem.WithLeases(redislease.New(client))"},
	{name: "if_store_down", instead: "leave it out: events wait while the lease store does not respond"},
	{name: "concurrency", instead: ofConcurrency}, {name: "max_concurrent", instead: ofConcurrency}, {name: "max_concurrency", instead: ofConcurrency},
	{name: "rate_limit", instead: "let the Go method wait for your own limiter; limits: {effect_concurrency: 8} limits the concurrent calls of a process"},
	{name: "retries", instead: "write on_failure: {retries: 8} on the topic"},
	{name: "key", instead: "leave it out: idem.DeliveryFrom(ctx) returns the key of the event"},
	{name: "lock",
		value: put(lockShape, func(v *Effect) **Lock { return &v.Lock }, readLock),
		text:  "Lock against concurrent calls: a name, and the fields that identify the locked object.",
		more: "All events, topics and services that use the same database or Redis share the name. The fields must be strings, " +
			"enums, uuids or integers. They cannot be patches, be optional, have a default, or contain the record's offset, partition " +
			"or timestamp (E813). Values with the same text share a lock. A call can hold only one lock (E110). Events with the " +
			"same lock name must list the same number of fields (E814). See [locks](effects.md#locks).",
		values:  "name: field, or list of fields",
		codes:   "E110 E201 E207 E813 E814",
		example: "PaymentBooked: {effect: {if_interrupted: retry, lock: {accounts: account_id}}}",
		asMap:   "write a name, and the field that identifies the locked object: lock: {orders: order_id}",
		also:    "lock locks mutex distributed_lock lock_by lock_key",
		write: "to prevent concurrent calls of effects, write lock under effect, with a name and the field that identifies the locked object; " +
			"a handler locks in its own transaction"},
}

const ofConcurrency = "write limits: {effect_concurrency: 8}, which applies to each process"

var lockShape = Shape{Names: lockNames.pattern.String(), Entries: &lockFields, One: true}

var lockFields = either(textShape, someOf(textShape))
