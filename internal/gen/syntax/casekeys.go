package syntax

import "math"

var caseShape = caseKeys.in(Section{Of: "a case", Rules: "cases.md#writing-one"})

var caseKeys = keys[Case]{
	{name: "description",
		value:   textValue(func(c *Case) **Text { return &c.Description }),
		text:    "What the case shows.",
		example: "description: An order that is paid twice is paid once."},
	{name: "given",
		value:   value[Case]{Shape{Entries: &rowsShape}, readGiven},
		text:    "Rows that are there before the records, by table. Columns that are left out take their default, or NULL.",
		more:    "A row that cannot be there is refused (E152).",
		values:  "rows by table",
		codes:   "E152 E205 E206 E304",
		example: "given:\n  orders: [{order_id: o-1, state: new}]"},
	{name: "events", required: true, missing: "for example events: [{topic: orders.v1, key: ..., value: {...}}]",
		value:   value[Case]{listOf(caseEventShape), readCaseEvents},
		text:    "The records, in their order.",
		more:    "An event that would become a dead letter is refused, unless `then` expects that (E153).",
		codes:   "E153",
		example: "events:\n  - topic: orders.v1\n    headers: {event-type: order.paid}\n    value: {order_id: o-1}"},
	{name: "then", required: true, missing: "say what must be there by table: its rows, or how many there are",
		value: value[Case]{thenShape, readThen},
		text: "What must be there afterwards, by table: its rows, or how many there are. Tables that are not named are not compared. " +
			"Under `dead_letters`: how many there are, by class. Under `calls`: how many calls of effects there are, by event. In place of " +
			"the map, `nothing`: every table stays as given, and no dead letter.",
		more:    "All rows of a table must name the same columns. Columns that the database fills must not be named (E154).",
		values:  "rows or a number by table; `nothing`",
		codes:   "E106 E154 E205 E206 E304",
		example: "then:\n  orders: [{order_id: o-1, state: paid}]\n  dead_letters: {conflict: 1}\n  calls: {OrderPaid: 1}"},
}

var caseEventShape = caseEventKeys.in(Section{Of: "a record of a case", Rules: "cases.md#writing-one"}).as("event")

var caseEventKeys = keys[CaseEvent]{
	{name: "topic", required: true, missing: "name the topic: topic: orders.v1",
		value:   textValue(func(e *CaseEvent) **Text { return &e.Topic }),
		text:    "A topic of the spec, by its name in Kafka. Another one is refused (E151).",
		codes:   "E151",
		example: "- {topic: orders.v1, value: {order_id: o-1}}"},
	{name: "key",
		value:    nodeValue(func(e *CaseEvent) **Node { return &e.Key }),
		text:     "The Kafka record key: its text, or its members if it is a JSON object.",
		values:   "text, or map",
		standard: "the record has none",
		example:  "- {topic: orders.v1, key: o-1, value: {order_id: o-1}}"},
	{name: "headers",
		value:   value[CaseEvent]{Shape{Entries: &Shape{Null: true}}, readCaseHeaders},
		text:    "Headers by name; null for a header without a value.",
		more:    "A binary header is written as the text of its number, UUID or bytes (base64).",
		values:  "texts by name",
		example: "- {topic: orders.v1, headers: {event-type: order.paid}, value: {order_id: o-1}}"},
	{name: "timestamp",
		value:    textValue(func(e *CaseEvent) **Text { return &e.Timestamp }),
		text:     "Time of the record, RFC 3339.",
		standard: "2001-01-01T00:00:00Z, and a second more for each record before",
		example:  "- {topic: orders.v1, timestamp: 2026-08-20T05:45:00Z, value: {order_id: o-1}}"},
	{name: "value",
		value:   nodeValue(func(e *CaseEvent) **Node { return &e.Value }),
		text:    "The payload, by the fields of the event; null for a record without a value (a tombstone).",
		values:  "map, or `null`",
		codes:   "E110 E207 E304",
		example: "- {topic: orders.v1, value: {order_id: o-1}}"},
	{name: "text",
		value:   put(textShape, func(e *CaseEvent) **Text { return &e.Text }, (*walker).text),
		text:    "The payload as it is, instead of `value`: for broken ones, and for members that no field reads.",
		codes:   "E110",
		example: "- {topic: orders.v1, text: '{\"order_id\": '}"},
	{name: "result",
		value: nodeValue(func(e *CaseEvent) **Node { return &e.Result }),
		text: "What the call of the event's effect returns, by the members of its result's type; null if it has no result. Without " +
			"`result`, `error` and `interrupted` the test calls the service's own effect.",
		more:    "What the event's effect does not have, or cannot return, is refused (E156).",
		values:  "map, or `null`",
		codes:   "E110 E156",
		example: "- {topic: users.v1, value: {email: ada@example.org}, result: {message_id: m-1}}"},
	{name: "error",
		value:   textValue(func(e *CaseEvent) **Text { return &e.Error }),
		text:    "In place of `result`: the call fails for good, with this text. The event becomes a dead letter of class effect.",
		codes:   "E110 E156",
		example: "- {topic: users.v1, value: {email: ada@example.org}, error: no such address}"},
	{name: "interrupted",
		value: textValue(func(e *CaseEvent) **Text { return &e.Interrupted }),
		text: "In place of `result`: the outcome of the call is unknown, with the reason. Only with `if_interrupted: dead_letter`; the event " +
			"becomes a dead letter of class interrupted.",
		codes:   "E110 E156",
		example: "- {topic: users.v1, value: {email: ada@example.org}, interrupted: connection reset}"},
	{name: "event", instead: "topic, headers and value tell which event it is, as for the consumer"},
	{name: "partition", instead: "the tests send all records of a topic to one partition, and copies to others"},
	{name: "offset", instead: "the records of a topic have the offsets 0, 1, 2 and so on"},
}

// The forms of then, and of a row.
var (
	rowsShape = listOf(Shape{Entries: &Shape{Any: true},
		About: "Columns and their values, as constants of the spec; null for NULL; an array column takes a list, a JSON column anything."}.as("row"))
	howMany       = Shape{Number: true, Low: "0"}
	tallyShape    = Shape{Entries: &howMany}.as("calls")
	thenOfTable   = either(howMany, rowsShape, lettersShape, tallyShape)
	lettersShape  = classKeys.in(Section{Of: "dead_letters", Rules: "deadletters.md#classes"}).as("dead_letters")
	thenOfTables  = Shape{Entries: &thenOfTable, Some: true}
	thenShape     = either(Shape{Words: []string{nothing}}, thenOfTables)
	classesOfThen = []struct{ name, text string }{
		{"decode", "Payload, header or record key do not decode."},
		{"key", "A part of the idempotency key is missing."},
		{"fit", "A value does not fit its column."},
		{"conflict", "The key is known, but the content differs."},
		{"unknown_type", "No event has this type."},
		{"tombstone", "No value, and the topic has no tombstone event."},
		{"too_large", "Longer than max_payload."},
		{"database", "Rejected by the database."},
		{"handler", "The Go code returned an error."},
		{"effect", "The call of its effect failed."},
		{"interrupted", "The outcome of the call of its effect is unknown."},
		{"parked", "It waits behind a dead letter of its record key."},
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
