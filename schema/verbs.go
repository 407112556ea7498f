package schema

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
	Then   *Branch
	Else   *Branch
	Pos    Pos // the map
	Broken bool
}

// Conditions are what a step asks of the row that it finds.
type Conditions struct {
	Exists  *Text // error or skip
	Missing *Text // error or skip; of add also InsertMissing
	Newer   *Text // column
	Always  *Bool // it does not matter whether another step finds the event stale
	Below   *Text // error or skip
}

// Branch are steps that run only if another one was applied, or only if it was skipped.
type Branch struct {
	Steps []*Step
	Key   Pos
}

// InsertMissing is the word of if_missing with which add makes the row.
const InsertMissing = "insert"

// Own are keys of one verb alone.
type Own struct {
	Plus     *Assigns // add
	Minus    *Assigns // add
	AtLeast  *Assigns // add: constants
	Stream   *Texts   // append: columns
	Position *Text    // append: column
	Expect   *Text    // append: field
	Parent   *Assigns // replace
	By       *Texts   // upsert: columns
	Keep     *Texts   // upsert: columns
	given    []string // all keys of the step, also those that are misspelt or whose values were refused
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
	{"insert", stepKeys("insert", "each", "set", "clear", "leave", "if_exists", "then", "else")},
	{"upsert", stepKeys("upsert", "each", "set", "clear", "leave", "by", "if_newer", "keep", "then", "else")},
	{"update", stepKeys("update", "each", "set", "clear", "where", "many", "if_newer", "if_missing", "then", "else")},
	{"delete", stepKeys("delete", "each", "where", "many", "if_newer", "then", "else")},
	{"append", stepKeys("append", "each", "set", "clear", "leave", "stream", "position", "expect")},
	{"replace", stepKeys("replace", "each", "parent", "set", "clear", "leave")},
	{"add", stepKeys("add", "each", "where", "plus", "minus", "at_least", "if_below", "if_missing", "set", "clear", "leave", "then", "else")},
}

// Emit is the verb of a step that writes no table: its Table is the name of an outbox event, and
// the columns that it sets are fields of that.
const Emit = "emit"

var emitKeys = stepKeys(Emit, "each", "set", "leave")

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
	{name: "stream", value: textsValue(func(s *Step) **Texts { return &s.Own.Stream })},
	{name: "position", value: textValue(func(s *Step) **Text { return &s.Own.Position })},
	{name: "expect", value: textValue(func(s *Step) **Text { return &s.Own.Expect })},
	{name: "parent", value: assignsValue(func(s *Step) **Assigns { return &s.Own.Parent })},
	{name: "plus", value: assignsValue(func(s *Step) **Assigns { return &s.Own.Plus })},
	{name: "minus", value: assignsValue(func(s *Step) **Assigns { return &s.Own.Minus })},
	{name: "at_least", value: constantsValue(func(s *Step) **Assigns { return &s.Own.AtLeast })},
	{name: "if_below", value: wordValue(func(s *Step) **Text { return &s.If.Below }, "error", "skip")},
	{name: "always", value: boolValue(func(s *Step) **Bool { return &s.If.Always })},
	{name: "if_newer", value: textValue(func(s *Step) **Text { return &s.If.Newer })},
	{name: "keep", value: textsValue(func(s *Step) **Texts { return &s.Own.Keep })},
	{name: "then", value: branchValue(func(s *Step) **Branch { return &s.Then })},
	{name: "else", value: branchValue(func(s *Step) **Branch { return &s.Else })},
}

// anywhere are keys that no verb has of its own.
var anywhere = []string{"always"}

// sums are the words of people who look for sums.
func sums[T any]() keys[T] {
	return keys[T]{{name: "add", instead: noArithmetic}, {name: "plus", instead: noArithmetic}, {name: "minus", instead: noArithmetic}}
}

const noArithmetic = "set writes values as they come: to add or subtract write a step add: <table> with plus: or minus:"

func stepKeys(verb string, names ...string) keys[Step] {
	ks := keys[Step]{{name: verb, value: value[Step]{scalarShape, readVerb}}}
	for _, k := range allStepKeys {
		if slices.Contains(names, k.name) || slices.Contains(anywhere, k.name) {
			ks = append(ks, k)
		}
	}
	if verb != "add" {
		ks = append(ks, sums[Step]()[1:]...)
	}
	return ks
}

// verbNames are the verbs in the order in which people are told of them.
func verbNames() []string {
	var names []string
	for _, t := range stepTables {
		names = append(names, t.verb)
	}
	return append(names, Emit)
}

// verbsLookedFor are the verbs of other languages, with the one that does their work.
var verbsLookedFor = map[string]string{
	"increment": "add", "increase": "add", "decrement": "add", "subtract": "add", "sum": "add",
	"merge": "upsert", "save": "upsert", "put": "upsert", "set": "update", "create": "insert", "modify": "update",
	"remove": "delete", "send": Emit, "publish": Emit, "produce": Emit,
}
