package syntax

import "slices"

// The verbs of steps: what a step may hold, the keys of each verb, and nothing else. A verb that
// is new to the language needs a line in stepTables, and its keys here.

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

// stepTables says which keys may stand beside each verb: one that has no meaning for the verb is
// E104.
var stepTables = []struct {
	verb string
	keys keys[Step]
}{
	{"insert", stepKeys("insert", "each", "set", "clear", "leave", "if_exists")},
	{"upsert", stepKeys("upsert", "each", "set", "clear", "leave", "by", "if_newer", "keep")},
	{"update", stepKeys("update", "each", "set", "clear", "where", "many", "if_newer", "if_missing")},
	{"delete", stepKeys("delete", "each", "where", "many", "if_newer")},
	{"add", stepKeys("add", "each", "where", "plus", "minus", "if_missing", "set", "clear", "leave")},
}

// otherVerbs are verbs that this language says in another way.
var otherVerbs = keys[Step]{
	{name: "append", instead: "insert the row with the number that the producer gives it in the primary key, or number the rows in Go code: handle: true"},
	{name: "replace", instead: "delete the rows of the parent (many: true), then insert one for each element"},
}

// inHandlers are conditions that no step states: what decides them is Go code.
var inHandlers = keys[Step]{
	{name: "then", instead: decides}, {name: "else", instead: decides},
	{name: "always", instead: "leave it out: each step is applied or skipped by its own conditions"},
	{name: "at_least", instead: "state CHECK (<column> >= 0) in a migration of yours: an event that breaks it is a dead letter; where a refusal is a row, write Go code, handle: true"},
	{name: "if_below", instead: "an event that breaks a CHECK of the table is a dead letter; where a refusal is a row, write Go code, handle: true"},
}

const toOutbox = "the outbox is a table, and writing it is an insert: insert: idem_outbox (docs/outbox.md)"

const decides = "steps do not depend on one another: what decides between rows is Go code in the same transaction, handle: true"

// allStepKeys are the keys of steps, each with one meaning under every verb.
var allStepKeys = keys[Step]{
	{name: "each", value: textValue(func(s *Step) **Text { return &s.Each })},
	{name: "set", value: assignsValue(func(s *Step) **Assigns { return &s.Set })},
	{name: "clear", value: textsValue(func(s *Step) **Texts { return &s.Clear })},
	{name: "leave", value: textsValue(func(s *Step) **Texts { return &s.Leave })},
	{name: "where", value: assignsValue(func(s *Step) **Assigns { return &s.Where })},
	{name: "many", value: boolValue(func(s *Step) **Bool { return &s.Many })},
	{name: "by", value: textsValue(func(s *Step) **Texts { return &s.Own.By })},
	{name: "if_exists", value: wordValue(func(s *Step) **Text { return &s.If.Exists }, "error", "skip")},
	{name: "if_missing", value: wordValue(func(s *Step) **Text { return &s.If.Missing }, "error", "skip", InsertMissing)},
	{name: "plus", value: assignsValue(func(s *Step) **Assigns { return &s.Own.Plus })},
	{name: "minus", value: assignsValue(func(s *Step) **Assigns { return &s.Own.Minus })},
	{name: "if_newer", value: textValue(func(s *Step) **Text { return &s.If.Newer })},
	{name: "keep", value: textsValue(func(s *Step) **Texts { return &s.Own.Keep })},
}

// sums are the words of people who look for sums.
func sums[T any]() keys[T] {
	return keys[T]{{name: "add", instead: noArithmetic}, {name: "plus", instead: noArithmetic}, {name: "minus", instead: noArithmetic}}
}

const noArithmetic = "set writes values as they come; to add or subtract, write a step add: <table> with plus: or minus:"

func stepKeys(verb string, names ...string) keys[Step] {
	ks := keys[Step]{{name: verb, value: value[Step]{scalarShape, readVerb}}}
	for _, k := range allStepKeys {
		if slices.Contains(names, k.name) {
			ks = append(ks, k)
		}
	}
	if verb != "add" {
		ks = append(ks, sums[Step]()[1:]...)
	}
	return append(ks, inHandlers...)
}

// verbsLookedFor are the verbs of other languages, with the one that does their work.
var verbsLookedFor = map[string]string{
	"increment": "add", "increase": "add", "decrement": "add", "subtract": "add", "sum": "add",
	"merge": "upsert", "save": "upsert", "put": "upsert", "set": "update", "create": "insert", "modify": "update",
	"remove": "delete",
}
