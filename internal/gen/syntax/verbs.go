package syntax

import (
	"slices"
	"strings"
)

// The verbs of steps: what a step may hold, the keys of each verb, and nothing else. A verb that
// is new to the language needs a line in stepTables, and its name in the keys that it takes.

// Step is one entry of write.
type Step struct {
	Verb   Text // Pos is the key
	Table  Text // Pos is the value after the verb
	Each   *Text
	Set    *Assigns
	Clear  *Texts // columns
	Leave  *Texts // columns
	Where  *Assigns
	Many   *Bool
	If     Conditions
	Own    Own
	Pos    Pos // the map
	Broken bool
}

// Conditions are what a step asks of the row that it finds.
type Conditions struct {
	Exists  *Text // error or skip
	Missing *Text // error or skip; of add also InsertMissing
	Newer   *Text // column
}

// InsertMissing is the word of if_missing with which add makes the row.
const InsertMissing = "insert"

// Own are keys of one verb alone.
type Own struct {
	Plus  *Assigns // add
	Minus *Assigns // add
	By    *Texts   // upsert: columns
	Keep  *Texts   // upsert: columns
	given []string // all keys of the step, also those that are misspelt or whose values were refused
}

// Lacks reports whether the step has no such key, not even misspelt or with a value that was
// refused.
func (s *Step) Lacks(key string) bool { return !slices.Contains(s.Own.given, key) }

// stepTables are the verbs, with the keys that may stand beside each: one that has no meaning for
// the verb is E104. Then follow the words of other languages for the verb.
var stepTables = []struct {
	verb string
	keys keys[Step]
	also []string
}{
	{"insert", stepKeys(key[Step]{name: "insert",
		text:    "Table in which to insert a row.",
		more:    "If the row violates a key, the record becomes a dead letter.",
		example: "- insert: orders"}),
		[]string{"create"}},
	{"upsert", stepKeys(key[Step]{name: "upsert",
		text:    "Table in which to insert a row, or overwrite the existing one.",
		more:    "In an existing row, the step overwrites all columns that it fills.",
		example: "- upsert: orders"}),
		[]string{"merge", "save", "put"}},
	{"update", stepKeys(key[Step]{name: "update",
		text:    "Table in which to change the columns in `set` and `clear`.",
		more:    "At least one of the two is required (E105).",
		example: "- update: orders\n  set: {state: {value: paid}}",
		also:    "soft_delete",
		write:   "keep the row and mark it, update: <table>, with {value: true} in a separate column"}),
		[]string{"set", "modify"}},
	{"delete", stepKeys(key[Step]{name: "delete",
		text:    "Table from which to delete a row.",
		more:    "A missing row is not an error. If a trigger keeps the row, the record becomes a dead letter.",
		example: "- delete: orders"}),
		[]string{"remove"}},
	{"add", stepKeys(key[Step]{name: "add",
		text:    "Table in which to add to the columns in `plus`, or subtract from those in `minus`.",
		more:    "At least one of the two is required (E105). See [sums](tables.md#sums).",
		example: "- add: accounts\n  plus: {balance: amount}",
		also:    "increment increase decrement subtract",
		write:   noArithmetic}),
		[]string{"increment", "increase", "decrement", "subtract", "sum"}},
}

// stepShape is a step with the keys of all verbs together.
var stepShape = func() Shape {
	s := Section{Of: "a step", Rules: "tables.md#steps"}
	for _, t := range stepTables {
		s.OneOf = append(s.OneOf, t.verb)
		s.Keys = append(s.Keys, t.keys[0].shown())
	}
	return allStepKeys.in(s).as("step")
}()

// stepKeys are those of a verb: itself, what may stand beside it, and what is looked for there.
func stepKeys(verb key[Step]) keys[Step] {
	verb.value = value[Step]{textShape, readVerb}
	verb.values, verb.codes = "table", strings.TrimSpace(verb.codes+" E205")
	ks := keys[Step]{verb}
	for _, k := range allStepKeys {
		if k.with == "" || slices.Contains(strings.Fields(k.with), verb.name) {
			ks = append(ks, k)
		}
	}
	if verb.name != "add" {
		ks = append(ks, sums[Step]()[1:]...)
	}
	return append(ks, inHandlers...)
}

// otherVerbs are verbs that this language says in another way.
var otherVerbs = keys[Step]{
	{name: "append", instead: "insert the row with the producer's number in its primary key, or number the rows in Go code, handle: true"},
	{name: "replace", instead: "delete the rows of the parent (many: true), then insert one for each element"},
}

// inHandlers are conditions that no step states: what decides them is Go code.
var inHandlers = keys[Step]{
	{name: "then", instead: decides}, {name: "else", instead: decides},
	{name: "always", instead: "leave it out: each step is applied or skipped by its own conditions"},
	{name: "at_least", instead: "add CHECK (<column> >= 0) in a migration of your own: an event that violates it becomes a dead letter; to store a refusal as a row, write Go code, handle: true"},
	{name: "if_below", instead: "an event that violates a CHECK of the table becomes a dead letter; to store a refusal as a row, write Go code, handle: true"},
}

const toOutbox = "the outbox is a table; write to it by insert: idem_outbox (docs/outbox.md)"

const decides = "steps do not depend on one another: decide between rows in Go code, in the same transaction, handle: true"

// allStepKeys are the keys of steps beside verbs, each with one meaning under every verb that
// takes it.
var allStepKeys = keys[Step]{
	{name: "each",
		value:   textValue(func(s *Step) **Text { return &s.Each }),
		text:    "List field. The step writes one row per element, and none for an empty list.",
		values:  "list field",
		codes:   "E207 E308",
		example: "- insert: order_lines\n  each: lines\n  set: {order_id: order_id, line: {each: position}}",
		also:    "children nested",
		write:   "write the rows of a list in a separate step, insert: <table> with each: <list>"},
	{name: "set", with: "insert upsert update add",
		value: assignsValue(func(s *Step) **Assigns { return &s.Set }),
		text:  "Values of columns. A bare name is a field; a constant is `{value: ...}`.",
		more: "With `add`, the values are for the row that `if_missing: insert` creates. An update cannot set the primary key " +
			"or a column of `where` (E602). An upsert keeps the columns of `by` in an existing row.",
		values:  "column: [value](tables.md#values)",
		codes:   "E206 E207 E302 E303 E308 E309 E602 E603",
		example: "- insert: orders\n  set: {state: {value: new}, total: amount}",
		asMap:   "for example set: {status: {value: TEXT}}"},
	{name: "clear", with: "insert upsert update add",
		value:   textsValue(func(s *Step) **Texts { return &s.Clear }),
		text:    "Columns to set to NULL.",
		values:  "columns",
		codes:   "E206 E303 E602 E603",
		example: "- update: orders\n  clear: [discount]"},
	{name: "leave", with: "insert upsert add",
		value:   textsValue(func(s *Step) **Texts { return &s.Leave }),
		text:    "Columns that the step does not write. In a new row, they get their default or NULL; in an existing row, they keep their values.",
		values:  "columns",
		codes:   "E206 E303 E602",
		example: "- insert: orders\n  leave: [note]"},
	{name: "where", with: "update delete add",
		value: assignsValue(func(s *Step) **Assigns { return &s.Where }),
		text: "Values that select the row: all columns of a unique key, and any further conditions. A row that does not meet " +
			"the conditions counts as missing.",
		more: "With `many`, no unique key is needed (E511). With `add` and `if_missing: insert`, the columns must be exactly " +
			"the primary key or a unique key (E605).",
		values:   "column: [value](tables.md#values)",
		standard: "the primary key, from values with the names of its columns",
		codes:    "E206 E207 E302 E303 E308 E309 E511 E601 E605",
		example:  "- update: accounts\n  where: {account_id: paid_by}\n  set: {state: {value: open}}",
		asMap:    "for example where: {order_id: TEXT}"},
	{name: "many", with: "update delete",
		value:    boolValue(func(s *Step) **Bool { return &s.Many }),
		text:     "Whether the step may change more than one row.",
		standard: "`false`",
		codes:    "E511",
		example:  "- delete: order_lines\n  where: {order_id: order_id}\n  many: true"},
	{name: "by", with: "upsert",
		value:    textsValue(func(s *Step) **Texts { return &s.Own.By }),
		text:     "Unique key that identifies the existing row.",
		more:     "The event must have a value for each of its columns (E601).",
		values:   "columns",
		standard: "the primary key",
		codes:    "E206 E303 E601 E605",
		example:  "- upsert: customers\n  by: [email]"},
	{name: "if_exists", with: "insert",
		value:    wordValue(func(s *Step) **Text { return &s.If.Exists }, "error", "skip"),
		text:     "What to do if a row with the primary key exists: `error` makes the record a dead letter, and `skip` does nothing.",
		standard: "`error`",
		example:  "- insert: orders\n  if_exists: skip",
		also:     "on_conflict on_duplicate",
		write:    "if the row exists, insert does nothing with if_exists: skip, and upsert overwrites the row"},
	{name: "if_missing", with: "update add",
		value: wordValue(func(s *Step) **Text { return &s.If.Missing }, "error", "skip", InsertMissing),
		text: "What to do if `where` finds no row: `error` makes the record a dead letter, `skip` does nothing, and `insert` " +
			"creates the row.",
		values:   "`error`, `skip`; with `add` also `insert`",
		standard: "`error`",
		codes:    "E503 E603 E605",
		example:  "- add: accounts\n  plus: {balance: amount}\n  if_missing: insert"},
	{name: "plus", with: "add",
		value:   assignsValue(func(s *Step) **Assigns { return &s.Own.Plus }),
		text:    "Amounts to add to columns.",
		values:  "column: [value](tables.md#values)",
		codes:   "E206 E207 E302 E303 E308 E602 E603",
		example: "- add: accounts\n  plus: {balance: amount}"},
	{name: "minus", with: "add",
		value:   assignsValue(func(s *Step) **Assigns { return &s.Own.Minus }),
		text:    "Amounts to subtract from columns.",
		values:  "column: [value](tables.md#values)",
		codes:   "E206 E207 E302 E303 E308 E602 E603",
		example: "- add: accounts\n  minus: {balance: amount}"},
	{name: "if_newer", with: "upsert update delete",
		value:   textValue(func(s *Step) **Text { return &s.If.Newer }),
		text:    "Column to compare: the step changes a row only if the event's value is greater than the stored one.",
		more:    "An equal value is not newer. A stored NULL is older than any value. See [newest wins](tables.md#newest-wins).",
		values:  "column",
		codes:   "E206 E302 E309 E503 E505 E506",
		example: "- upsert: orders\n  if_newer: version",
		also:    "version_column optimistic_lock",
		write:   "write if_newer: <column> in the step, with a version or time that the producer sets"},
	{name: "keep", with: "upsert",
		value:   textsValue(func(s *Step) **Texts { return &s.Own.Keep }),
		text:    "Columns to write only in a new row.",
		values:  "columns",
		codes:   "E206 E602",
		example: "- upsert: orders\n  keep: [state]"},
}

// sums are the words of people who look for sums.
func sums[T any]() keys[T] {
	return keys[T]{{name: "add", instead: noArithmetic}, {name: "plus", instead: noArithmetic}, {name: "minus", instead: noArithmetic}}
}

const noArithmetic = "set writes values unchanged; to add or subtract, write a step add: <table> with plus: or minus:"

var (
	assignsShape = Shape{Entries: &valueShape, Some: true}.as("assigns")
	valueShape   = either(Shape{Text: true, About: "A field, each, each.member or result.member."},
		valueKeys.in(Section{Of: "a step's value", Rules: "tables.md#values", OneOf: []string{"value", "now", "each"}}))
)

// valueKeys are those of a value that is not a name.
var valueKeys = append(keys[valueMap]{
	{name: "value",
		value:   put(constantShape, func(v *valueMap) **Text { return &v.value }, readConstant),
		text:    "Constant, parsed as the type of the column.",
		values:  "constant",
		codes:   "E304",
		example: "- insert: orders\n  set: {state: {value: new}}"},
	{name: "now",
		value:   wordValue(func(v *valueMap) **Text { return &v.now }, "true"),
		text:    "Time of the transaction, for timestamptz.",
		more:    "Not allowed in `where` (E302).",
		codes:   "E302",
		example: "- insert: orders\n  set: {seen_at: {now: true}}"},
	{name: "each",
		value:   wordValue(func(v *valueMap) **Text { return &v.each }, "position"),
		text:    "Position of the element in its list, from 1.",
		codes:   "E308",
		example: "- insert: order_lines\n  each: lines\n  set: {order_id: order_id, line: {each: position}}"},
	{name: "field", instead: "write only the name of the field, as in set: {state: state}"},
}, sums[valueMap]()...)
