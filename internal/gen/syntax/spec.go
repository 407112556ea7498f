package syntax

import "fmt"

// Spec is one spec file. A pointer is nil and a slice is empty if the key is absent or was
// refused; in the second case Broken is set.
type Spec struct {
	File        string // path as given
	Description *Text
	Consumer    *Text
	Package     *Text
	Examples    *Text // path of the sample records
	Types       []*Type
	TablesKey   Pos // the key "tables"; zero if absent
	Tables      []*Table
	Topics      []*Topic
	Limits      *Limits
	Migrations  *Migrations
	Broken      bool
}

var specKeys = keys[Spec]{
	{name: "version", required: true, example: "write version: 1", value: value[Spec]{shape{words: []string{"1"}}, readVersion}},
	{name: "consumer", required: true, example: "name the service: consumer: orders, which is Kafka's group and the ledger's name, too", value: nameValue(consumerNames, func(s *Spec) **Text { return &s.Consumer })},
	{name: "package", required: true, example: "name the Go package of the folder that this spec is in, for example package: orders", value: nameValue(packageNames, func(s *Spec) **Text { return &s.Package })},
	{name: "description", value: textValue(func(s *Spec) **Text { return &s.Description })},
	{name: "import", instead: "copy the types that you need; a table that another service makes is external: true here"},
	{name: "examples", value: pathValue(func(s *Spec) **Text { return &s.Examples })},
	{name: "types", value: value[Spec]{shape{entries: &shape{keys: typeKeys.shapes()}}, readTypes}},
	{name: "tables", value: value[Spec]{shape{entries: &shape{keys: tableKeys.shapes()}}, readTables}},
	{name: "topics", required: true, example: "name the topics that the consumer reads, for example topics: {orders.v1: {...}}", value: value[Spec]{shape{entries: &shape{keys: topicKeys.shapes()}}, readTopics}},
	{name: "on_failure", instead: "say it of each topic: topics: {orders.v1: {on_failure: {retries: 8}}}"},
	{name: "limits", value: put(shape{keys: limitKeys.shapes()}, func(s *Spec) **Limits { return &s.Limits }, readLimits)},
	{name: "migrations", value: put(shape{keys: migrationKeys.shapes()}, func(s *Spec) **Migrations { return &s.Migrations }, readMigrations)},
	{name: "renamed_from", instead: "the consumer keeps its name: it is that of its ledger, and of the group in Kafka"},
	{name: "outbox", instead: toOutbox},
}

// Load reads a spec. The Spec is never nil; what could not be read is missing in it and marked
// Broken. It never panics.
func Load(file string, data []byte) (*Spec, Diagnostics) {
	s := &Spec{File: file}
	root, ds := parse(Diagnostics{}, data)
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
	return s, ds
}

func readVersion(w *walker, e entry, s *Spec) bool {
	t, ok := w.full(e)
	if ok && t.Value != "1" && !w.variable(t.Pos, t.Value) {
		w.ds.Add(t.Pos, "E109", fmt.Sprintf("spec version %s is not supported", quote(t.Value)), "this idemgen reads version 1")
	}
	return ok && t.Value == "1"
}
