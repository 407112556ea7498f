package syntax

import "math"

var caseShape = caseKeys.in(Section{Of: "a case", Rules: "cases.md#writing-a-case"})

var caseKeys = keys[Case]{
	{name: "description",
		value:   textValue(func(c *Case) **Text { return &c.Description }),
		text:    "Description of the case.",
		example: "description: An order that is paid twice is paid once."},
	{name: "given",
		value:   value[Case]{Shape{Entries: &rowsShape}, readGiven},
		text:    "Rows that exist before the records, by table. Omitted columns get their default, or NULL.",
		more:    "Parents are inserted first, whatever the order in the file. A row that cannot exist is refused (E152).",
		values:  "rows by table",
		codes:   "E152 E205 E206 E304",
		example: "given:\n  orders: [{order_id: o-1, state: new}]"},
	{name: "events", required: true, missing: "for example events: [{topic: orders.v1, key: ..., value: {...}}]",
		value: value[Case]{listOf(caseEventShape), readCaseEvents},
		text:  "Records of the case, in order.",
		more: "A record that would become a dead letter before any table is touched is refused (E153), unless `then` expects " +
			"it.",
		codes:   "E153",
		example: "events:\n  - topic: orders.v1\n    headers: {event-type: order.paid}\n    value: {order_id: o-1}"},
	{name: "then", required: true, missing: "list the expected rows by table, or their number",
		value: value[Case]{thenShape, readThen},
		text: "Expected rows by table, or their number. Other tables are not compared. `dead_letters` contains the number of " +
			"dead letters by class, and `calls` the number of effect calls by event. The word `nothing` in place of the map " +
			"means that all tables stay as given, and there are no dead letters.",
		more:    "All rows of a table must name the same columns, and none that the database fills (E154).",
		values:  "rows or a number by table; `nothing`",
		codes:   "E154 E156 E205 E206 E304",
		example: "then:\n  orders: [{order_id: o-1, state: paid}]\n  dead_letters: {conflict: 1}\n  calls: {OrderPaid: 1}"},
}

var caseEventShape = caseEventKeys.in(Section{Of: "a record of a case", Rules: "cases.md#writing-a-case"}).as("event")

var caseEventKeys = keys[CaseEvent]{
	{name: "topic", required: true, missing: "name the topic: topic: orders.v1",
		value:   textValue(func(e *CaseEvent) **Text { return &e.Topic }),
		text:    "Topic of the spec, by its name in Kafka.",
		more:    "The records of a topic are in one partition, at the offsets 0, 1, 2 and so on.",
		codes:   "E151",
		example: "- {topic: orders.v1, value: {order_id: o-1}}"},
	{name: "key",
		value:    nodeValue(func(e *CaseEvent) **Node { return &e.Key }),
		text:     "Kafka record key: a string, or a map if the key is a JSON object.",
		values:   "string, or map",
		standard: "no record key",
		example:  "- {topic: orders.v1, key: o-1, value: {order_id: o-1}}"},
	{name: "headers",
		value:   value[CaseEvent]{Shape{Entries: &Shape{Null: true}}, readCaseHeaders},
		text:    "Headers by name. Null is a header without a value.",
		more:    "Write a binary header as its number, its UUID or base64.",
		values:  "strings by name",
		example: "- {topic: orders.v1, headers: {event-type: order.paid}, value: {order_id: o-1}}"},
	{name: "timestamp",
		value:    textValue(func(e *CaseEvent) **Text { return &e.Timestamp }),
		text:     "Time of the record, in RFC 3339.",
		standard: "2001-01-01T00:00:00Z, plus one second for each record before",
		example:  "- {topic: orders.v1, timestamp: 2026-08-20T05:45:00Z, value: {order_id: o-1}}"},
	{name: "value",
		value:   nodeValue(func(e *CaseEvent) **Node { return &e.Value }),
		text:    "Payload, with the members that the event's fields read. Null is a record without a value (a tombstone).",
		more:    "Other members are refused (E207), unless the topic's Avro or Protobuf schema has them.",
		values:  "map; a string, if a field has `record: value`; or `null`",
		codes:   "E110 E207 E304",
		example: "- {topic: orders.v1, value: {order_id: o-1}}"},
	{name: "text",
		value:   put(textShape, func(e *CaseEvent) **Text { return &e.Text }, (*walker).text),
		text:    "Raw payload in place of `value`, for example a broken one, or one with members that no field reads.",
		codes:   "E110",
		example: "- {topic: orders.v1, text: '{\"order_id\": '}"},
	{name: "result",
		value: nodeValue(func(e *CaseEvent) **Node { return &e.Result }),
		text: "Result of the effect's call: a map with the members of its type, or null if the effect has no result. Without `result`, " +
			"`error` and `interrupted`, the test calls the service's own method.",
		more:    "A result that the effect cannot return is refused (E156).",
		values:  "map, or `null`",
		codes:   "E110 E156",
		example: "- {topic: users.v1, value: {email: ada@example.org}, result: {message_id: m-1}}"},
	{name: "error",
		value:   textValue(func(e *CaseEvent) **Text { return &e.Error }),
		text:    "Error of a call that fails permanently, in place of `result`. The event becomes a dead letter of class `effect`.",
		codes:   "E110 E156",
		example: "- {topic: users.v1, value: {email: ada@example.org}, error: no such address}"},
	{name: "interrupted",
		value: textValue(func(e *CaseEvent) **Text { return &e.Interrupted }),
		text: "Reason why the outcome of the call is unknown, in place of `result`. The event becomes a dead letter of class " +
			"`interrupted`. Requires `if_interrupted: dead_letter`.",
		codes:   "E110 E156",
		example: "- {topic: users.v1, value: {email: ada@example.org}, interrupted: connection reset}"},
	{name: "event", instead: "leave it out: topic, headers and value determine the event, as in production"},
	{name: "partition", instead: "leave it out: the tests send all records of a topic to one partition, and duplicates to others"},
	{name: "offset", instead: "leave it out: the records of a topic have the offsets 0, 1, 2 and so on"},
}

// The forms of then, and of a row.
var (
	rowsShape = listOf(Shape{Entries: &Shape{Any: true},
		About: "Values of columns, written as constants of a spec: null for NULL, a list for an array column, any value for a JSON column."}.as("row"))
	howMany       = Shape{Number: true, Low: "0"}
	tallyShape    = Shape{Entries: &howMany}.as("calls")
	thenOfTable   = either(howMany, rowsShape, lettersShape, tallyShape)
	lettersShape  = classKeys.in(Section{Of: "dead_letters", Rules: "deadletters.md#classes"}).as("dead_letters")
	thenOfTables  = Shape{Entries: &thenOfTable, Some: true}
	thenShape     = either(Shape{Words: []string{nothing}}, thenOfTables)
	classesOfThen = []struct{ name, text string }{
		{"decode", "The payload, a header or the record key cannot be decoded."},
		{"key", "A part of the idempotency key is missing."},
		{"fit", "A value does not fit its column."},
		{"conflict", "The key is known, but the content differs."},
		{"unknown_type", "No event has this type."},
		{"tombstone", "The record has no value, and the topic has no tombstone event."},
		{"too_large", "The value is longer than `max_payload`."},
		{"database", "The database rejected the record."},
		{"handler", "The Go code returned an error."},
		{"effect", "The effect's call failed."},
		{"interrupted", "The outcome of the effect's call is unknown."},
		{"parked", "The record waits behind a dead letter with the same record key (`park: record_key`)."},
	}
)

// classKeys are the words with which the reason of a dead letter begins.
var classKeys = func() (ks keys[Case]) {
	for _, class := range classesOfThen {
		read := func(w *walker, e entry, c *Case) bool {
			n, ok := w.integer(e, 1, math.MaxInt32)
			if ok {
				c.DeadLetters = append(c.DeadLetters, ClassCount{class.name, int(n.Value)})
			}
			return ok
		}
		ks = append(ks, key[Case]{name: class.name, text: class.text, value: value[Case]{Shape{Number: true, Low: "1"}, read},
			example: "then: {dead_letters: {" + class.name + ": 1}}"})
	}
	return ks
}()
