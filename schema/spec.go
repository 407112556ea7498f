package schema

import (
	"fmt"
	"slices"
)

// Spec is one spec file: of a service, or a library, which has no consumer. A pointer
// is nil and a slice is empty if the key is absent or was refused; in the second case
// Broken is set.
type Spec struct {
	Head
	Consumer    *Text
	RenamedFrom *Text // the consumer's first name
	Package     *Text
	Examples    *Text // path of the sample records
	Types       []*Type
	TablesKey   Pos // the key "tables"; zero if absent
	Tables      []*Table
	Topics      []*Topic
	Outbox      *Outbox
	OnFailure   *FailurePolicy
	Limits      *Limits
	Migrations  *Migrations
	Broken      bool
}

// Head is what any file of the language says of itself.
type Head struct {
	File        string // path as given
	Library     bool   // it has no consumer
	Description *Text
	Imports     []*Import
}

var specKeys = keys[Spec]{
	{name: "version", required: true, example: "write version: 1", value: value[Spec]{shape{words: []string{"1"}}, readVersion}},
	{name: "consumer", value: nameValue(consumerNames, func(s *Spec) **Text { return &s.Consumer })},
	{name: "package", value: nameValue(packageNames, func(s *Spec) **Text { return &s.Package })},
	{name: "description", value: textValue(func(s *Spec) **Text { return &s.Description })},
	{name: "import", value: value[Spec]{shape{entries: &scalarShape}, readImports}},
	{name: "examples", value: pathValue(func(s *Spec) **Text { return &s.Examples })},
	{name: "types", value: value[Spec]{shape{entries: &shape{keys: typeKeys.shapes()}}, readTypes}},
	{name: "tables", value: value[Spec]{shape{entries: &shape{keys: tableKeys.shapes()}}, readTables}},
	{name: "topics", value: value[Spec]{shape{entries: &shape{keys: topicKeys.shapes()}}, readTopics}},
	{name: "on_failure", value: put(shape{keys: failureKeys.shapes()}, func(s *Spec) **FailurePolicy { return &s.OnFailure }, readFailurePolicy)},
	{name: "limits", value: put(shape{keys: limitKeys.shapes()}, func(s *Spec) **Limits { return &s.Limits }, readLimits)},
	{name: "migrations", value: put(shape{keys: migrationKeys.shapes()}, func(s *Spec) **Migrations { return &s.Migrations }, readMigrations)},
	{name: "renamed_from", value: nameValue(consumerNames, func(s *Spec) **Text { return &s.RenamedFrom })},
	{name: "outbox", value: put(shape{keys: outboxKeys.shapes()}, func(s *Spec) **Outbox { return &s.Outbox }, readOutbox)},
}

// Load reads a spec. File is the path as the user gave it. The Spec is never
// nil; what could not be read is missing in it and marked Broken. It never panics.
func Load(file string, data []byte) (*Spec, Diagnostics) { return load(file, "", data) }

// LoadLibrary reads a file that a spec imports, as Load does. File is its path as messages show
// it: each place in it names it.
func LoadLibrary(file string, data []byte) (*Spec, Diagnostics) {
	return load(file, file, data)
}

func load(file, places string, data []byte) (*Spec, Diagnostics) {
	s := &Spec{Head: Head{File: file}}
	root, ds := parse(Diagnostics{file: places}, data)
	if root == nil {
		s.Broken = true
		if len(ds.list) == 0 {
			ds.Add(Pos{Line: 1, Col: 1, Width: 1}, "E106", "the spec must be a map, not empty",
				"a spec starts with version: 1, consumer: <name> and package: <name>")
		}
		return s, ds
	}
	w := &walker{ds: &ds}
	e := entry{what: "the spec", node: root}
	s.Broken = !walkMap(w, e, specKeys, s)
	if root.Kind == MapNode {
		checkService(w, e, s)
	}
	return s, ds
}

func readVersion(w *walker, e entry, s *Spec) bool {
	t, ok := w.full(e)
	if ok && t.Value != "1" && !w.variable(t.Pos, t.Value) {
		w.ds.Add(t.Pos, "E109", fmt.Sprintf("spec version %s is not supported", quote(t.Value)), "this idemgen reads version 1")
	}
	return ok && t.Value == "1"
}

// checkService checks what a service spec needs. A file without consumer is a library.
func checkService(w *walker, e entry, s *Spec) {
	lacks := func(name string) bool {
		return e.node.Get(name) == nil && !misspelt(e, specKeys, name)
	}
	if lacks("consumer") {
		s.Library = true
		checkLibrary(w, e, s)
		return
	}
	for name, example := range map[string]string{
		"package": "name the Go package of the folder that this spec is in, for example package: orders",
		"topics":  "name the topics that the consumer reads, for example topics: {orders.v1: {...}}",
	} {
		if lacks(name) && !(name == "topics" && e.node.Get("outbox") != nil) {
			s.Broken = true
			w.ds.Add(firstKey(e), "E105", fmt.Sprintf("%s lacks the key %q", e.what, name), example)
		}
	}
}

// libraryKeys are the keys that a file without consumer may have.
var libraryKeys = []string{"version", "description", "import", "types", "tables"}

// checkLibrary refuses what only a service has: its topics, or else the first such key.
func checkLibrary(w *walker, e entry, s *Spec) {
	var of []Pair
	for _, p := range e.node.Pairs {
		if _, known := specKeys.find(p.Key); known && !slices.Contains(libraryKeys, p.Key) {
			of = append(of, p)
		}
	}
	for _, t := range s.Tables {
		if !t.Broken && t.Owner == nil && (t.External == nil || !t.External.Value) {
			s.Broken, t.Broken = true, true
			w.ds.Add(t.Name.Pos, "E105", fmt.Sprintf("table %s lacks the key %q", quote(t.Name.Value), "owner"),
				"in a library say whose migrations make the table: owner: <consumer>, or external: true if it exists already")
		}
	}
	if len(of) == 0 {
		return
	}
	i := max(0, slices.IndexFunc(of, func(p Pair) bool { return p.Key == "topics" }))
	s.Broken = true
	w.ds.Add(of[i].KeyPos, "E810", fmt.Sprintf("a file without \"consumer\" is a library and cannot have %q", of[i].Key), `add "consumer: <name>" to make it a service`)
}
