package syntax

var idempotencyShape = idempotencyKeys.in(Section{Of: "idempotency_key", Rules: "topics.md#the-idempotency-key"}).as("idempotency_key")

var idempotencyKeys = keys[IdempotencyKey]{
	{name: "source", required: true, missing: "for example source: {header: Idempotency-Key}",
		value: value[IdempotencyKey]{either(textShape, sourceShape, someOf(partShape)), readSource},
		text:  "The data that all duplicates of one event share: a field, `{header: X}`, a list of these, or `{record: offset}`.",
		more: "A list means all parts together, at most 16. A part that a record lacks, or that is empty, makes it a dead letter " +
			"of class key.",
		values:  "field, `{header: X}`, list of these, `{record: offset}`",
		codes:   "E107 E110 E310 E409",
		example: "idempotency_key: {source: [tenant, {header: Idempotency-Key}], window: 8d}",
		also:    "scope namespace key_prefix",
		write:   "leave it out: a key is one of its event and topic; what else it is unique within is a part of source, source: [tenant, id]"},
	{name: "window",
		value: put(durationShape("1s", "3650d"), func(k *IdempotencyKey) **Duration { return &k.Window }, readWindow),
		text:  "How long after an event its duplicates are recognized.",
		more: "Times are those at which records were appended to the log. A window is at least so long, not to the second: while a " +
			"partition is paused or behind, keys are kept for longer. The start warns if the topic keeps records for longer.",
		standard: "required, except with `{record: offset}`",
		codes:    "E408 E412 E509 E708",
		example:  "idempotency_key: {source: event_id, window: 35d}",
		also:     "ttl expiry expires expire_after expires_after key_ttl dedup_window dedupe_window deduplication_window",
		write:    "how long a key is known is window: 8d, in idempotency_key"},
	{name: "copies",
		value: wordValue(func(k *IdempotencyKey) **Text { return &k.Copies }, "anywhere", "same_partition"),
		text:  "In which partitions duplicates of an event may arrive. `same_partition` stores no keys in a table.",
		more: "Keys are then in the ledger's rows and in memory, 27 to 40 bytes each. It must be proven (E411): `assume: [ordered]`, " +
			"and `source` holds the whole record key or the producer promises `copies_keep_record_key`.",
		standard: "`anywhere`",
		codes:    "E111 E411 E412",
		example:  "idempotency_key: {source: order_id, window: 8d, copies: same_partition}"},
	{name: "compare",
		value: put(either(Shape{Words: []string{"declared", "nothing"}}, someOf(constantShape)), func(k *IdempotencyKey) **Compare { return &k.Compare }, readCompare),
		text: "Content of an event: the declared fields, a list of fields, or nothing. A known key with different content is a " +
			"conflict, not a duplicate.",
		more:     "See [content](topics.md#content).",
		values:   "`declared`, `nothing`, list of fields",
		standard: "`declared`",
		codes:    "E111 E207 E310 E412",
		example:  "idempotency_key: {source: event_id, window: 8d, compare: [amount, currency]}"},
	{name: "unique_per", instead: "equal keys of two events are two: records that share their keys are one event, which lists their types, type: [a, b]"},
	{name: "also", instead: "events have one source: docs/patterns.md says how the key of a live topic is changed"},
	{name: "missing", instead: "a record without the header of its key is a dead letter: docs/patterns.md says how the key of a live topic is changed"},
	{name: "record", stands: "source", instead: "it is a source: write idempotency_key: {source: {record: offset}}"},
	{name: "header", stands: "source", instead: "it is a source: write idempotency_key: {source: {header: Idempotency-Key}, window: 8d}"},
	{name: "copies_keep_record_key", instead: "it is a promise for the whole topic: write assume: [ordered, copies_keep_record_key] there"},
}

var (
	sourceShape = sourceKeys.in(Section{Of: "source", Rules: "topics.md#the-idempotency-key", OneOf: []string{"header", "record"}})
	partShape   = either(textShape, sourceKeys[:1].in(Section{Of: "source", OneOf: []string{"header"}})).as("part")
)

var sourceKeys = keys[keySourceMap]{
	{name: "header",
		value:   textValue(func(s *keySourceMap) **Text { return &s.header }),
		text:    "Record header whose text is the key, or a part of it. It is there once, and not empty.",
		more:    "A binary header is part of a key by the [field](#encoding-of-a-field) that reads it.",
		codes:   "E110",
		example: "idempotency_key: {source: {header: Idempotency-Key}, window: 8d}"},
	{name: "ce", instead: ofCloudEvents},
	{name: "record",
		value: wordValue(func(s *keySourceMap) **Text { return &s.record }, "offset"),
		text:  "Topic, partition and offset are the key: none is stored, and what the producer sends twice takes effect twice.",
		more: "It stands alone, without `window`, `copies` and `compare` (E412). " +
			"[What a step needs](tables.md#what-a-step-needs) says which steps are safe with it.",
		codes:   "E110 E111 E412 E501",
		example: "idempotency_key: {source: {record: offset}}"},
}

// ofCloudEvents is where the attributes of CloudEvents are.
const ofCloudEvents = "an attribute of a CloudEvent is a header named ce_..., or in structured mode a member of the value"
