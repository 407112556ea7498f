package schema

import "fmt"

// Spec is one service spec. A pointer is nil and a slice is empty if the key is
// absent or was refused; in the second case Broken is set.
type Spec struct {
	File        string // path as given
	Consumer    *Text
	Package     *Text
	Description *Text
	Examples    *Text // path of the sample records
	Types       []*Type
	TablesKey   Pos // the key "tables"; zero if absent
	Tables      []*Table
	Topics      []*Topic
	OnFailure   *FailurePolicy
	Limits      *Limits
	Migrations  *Migrations
	Broken      bool
}

var specKeys = keys[Spec]{
	{name: "version", required: true, example: "write version: 1", value: value[Spec]{shape{words: []string{"1"}}, readVersion}},
	{name: "consumer", value: nameValue(consumerNames, func(s *Spec) **Text { return &s.Consumer })},
	{name: "package", value: nameValue(packageNames, func(s *Spec) **Text { return &s.Package })},
	{name: "description", value: textValue(func(s *Spec) **Text { return &s.Description })},
	{name: "examples", value: pathValue(func(s *Spec) **Text { return &s.Examples })},
	{name: "types", value: value[Spec]{shape{entries: &shape{keys: typeKeys.shapes()}}, readTypes}},
	{name: "tables", value: value[Spec]{shape{entries: &shape{keys: tableKeys.shapes()}}, readTables}},
	{name: "topics", value: value[Spec]{shape{entries: &shape{keys: topicKeys.shapes()}}, readTopics}},
	{name: "on_failure", value: put(shape{keys: failureKeys.shapes()}, func(s *Spec) **FailurePolicy { return &s.OnFailure }, readFailurePolicy)},
	{name: "limits", value: put(shape{keys: limitKeys.shapes()}, func(s *Spec) **Limits { return &s.Limits }, readLimits)},
	{name: "migrations", value: put(shape{keys: migrationKeys.shapes()}, func(s *Spec) **Migrations { return &s.Migrations }, readMigrations)},
	{name: "renamed_from", meanwhile: "keep the name: under another one the consumer begins with an empty ledger"},
	{name: "import", meanwhile: "until then, write the types into each spec"},
	{name: "outbox", meanwhile: "until then, insert into a table of yours, and send from there"},
}

// Load reads a service spec. File is the path as the user gave it. The Spec is never
// nil; what could not be read is missing in it and marked Broken. It never panics.
func Load(file string, data []byte) (*Spec, Diagnostics) {
	s := &Spec{File: file}
	root, ds := Parse(data)
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
		s.Broken = true
		pos := firstKey(e)
		for _, p := range e.node.Pairs {
			if p.Key == "topics" {
				w.ds.Add(p.KeyPos, "E810", `a file without "consumer" is a library and cannot have "topics"`, `add "consumer: <name>" to make it a service`)
				return
			}
		}
		reportLibrary(w, pos)
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

func reportLibrary(w *walker, pos Pos) {
	w.ds.Add(pos, "E115", `a spec without "consumer" is a library, and libraries are not built yet`, "for a service, add consumer: <name>")
}
