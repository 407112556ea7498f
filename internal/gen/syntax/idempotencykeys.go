package syntax

var idempotencyShape = idempotencyKeys.in(Section{Of: "idempotency_key", Rules: "topics.md#the-idempotency-key"}).as("idempotency_key")

var idempotencyKeys = keys[IdempotencyKey]{
	{name: "source", required: true, missing: "for example source: {header: Idempotency-Key}",
		value:   value[IdempotencyKey]{either(textShape, sourceShape, someOf(partShape)), readSource},
		text:    "Data that all duplicates of an event share: a field, `{header: X}`, a list of these, or `{record: offset}`.",
		more:    "A list combines up to 16 parts. If a part is missing or empty, the record becomes a dead letter of class `key`.",
		values:  "field, `{header: X}`, list of these, `{record: offset}`",
		codes:   "E110 E310 E409",
		example: "idempotency_key: {source: [tenant, {header: Idempotency-Key}], window: 8d}",
		also:    "scope namespace key_prefix",
		write:   "leave it out: a key is unique within its event and topic; add any narrower scope to source, for example source: [tenant, id]"},
	{name: "window",
		value: put(durationShape("1s", "3650d"), func(k *IdempotencyKey) **Duration { return &k.Window }, readWindow),
		text: "Minimum time for which duplicates of an event are recognized. It is measured by the times at which " +
			"records were appended to the log.",
		more: "Keys are kept for longer while a partition is " +
			"paused or behind. At startup, the service logs a warning if the topic keeps records for longer.",
		standard: "required, except with `{record: offset}`",
		codes:    "E408 E412 E509",
		example:  "idempotency_key: {source: event_id, window: 35d}",
		also:     "ttl expiry expires expire_after expires_after key_ttl dedup_window dedupe_window deduplication_window",
		write:    "write window: 8d in idempotency_key, the time for which a key is known"},
	{name: "copies",
		value: wordValue(func(k *IdempotencyKey) **Text { return &k.Copies }, "anywhere", "same_partition"),
		text:  "Partitions in which duplicates of an event may arrive. With `same_partition`, keys have no table of their own: they are kept in the ledger's rows and in memory.",
		more: "In memory, a key takes 27 to 40 bytes. The spec needs `assume: [ordered]`, and " +
			"either a `source` that contains the whole record key or the promise `copies_keep_record_key` (E411).",
		standard: "`anywhere`",
		codes:    "E411 E412",
		example:  "idempotency_key: {source: order_id, window: 8d, copies: same_partition}"},
	{name: "compare",
		value: put(either(Shape{Words: []string{"declared", "nothing"}}, someOf(constantShape)), func(k *IdempotencyKey) **Compare { return &k.Compare }, readCompare),
		text: "Content that duplicates must share: the declared fields, a list of fields, or nothing. A record with a known key " +
			"but different content is a conflict, not a duplicate.",
		more:     "See [content](topics.md#content).",
		values:   "`declared`, `nothing`, list of fields",
		standard: "`declared`",
		codes:    "E207 E310 E412",
		example:  "idempotency_key: {source: event_id, window: 8d, compare: [amount, currency]}"},
	{name: "unique_per", instead: "two events never share keys: if records of several types share keys, declare one event with type: [a, b]"},
	{name: "also", instead: "an event has one source: docs/patterns.md describes how to change the key of a live topic"},
	{name: "missing", instead: "a record without the header of its key becomes a dead letter: docs/patterns.md describes how to change the key of a live topic"},
	{name: "record", stands: "source", instead: "it is a source: write idempotency_key: {source: {record: offset}}"},
	{name: "header", stands: "source", instead: "it is a source: write idempotency_key: {source: {header: Idempotency-Key}, window: 8d}"},
	{name: "copies_keep_record_key", instead: "it is a promise about the whole topic: write assume: [ordered, copies_keep_record_key] on the topic"},
}

var (
	sourceShape = sourceKeys.in(Section{Of: "source", Rules: "topics.md#the-idempotency-key", OneOf: []string{"header", "record"}})
	partShape   = either(textShape, sourceKeys[:1].in(Section{Of: "source", OneOf: []string{"header"}})).as("part")
)

var sourceKeys = keys[keySourceMap]{
	{name: "header",
		value:   textValue(func(s *keySourceMap) **Text { return &s.header }),
		text:    "Record header whose value is the key, or a part of it. It must occur once and not be empty.",
		more:    "For a binary header, name the [field](#encoding-of-a-field) that reads it instead.",
		example: "idempotency_key: {source: {header: Idempotency-Key}, window: 8d}"},
	{name: "ce", instead: ofCloudEvents},
	{name: "record",
		value: wordValue(func(s *keySourceMap) **Text { return &s.record }, "offset"),
		text: "Uses topic, partition and offset as the key. Such keys are not stored, and an event that the producer " +
			"resends takes effect twice.",
		more: "It cannot be part of a list (E110), or be combined with `window`, `copies` or `compare` (E412). [What a step " +
			"needs](tables.md#what-a-step-needs) lists the steps that are safe with it.",
		codes:   "E110 E412 E501",
		example: "idempotency_key: {source: {record: offset}}"},
}

// ofCloudEvents is where the attributes of CloudEvents are.
const ofCloudEvents = "the attributes of a CloudEvent are headers named ce_..., or in structured mode members of the value"
