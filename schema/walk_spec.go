package schema

import "fmt"

var specKeys = keys[Spec]{
	{name: "version", required: true, example: "write version: 1", value: value[Spec]{shape{words: []string{"1"}}, (*walker).version}},
	{name: "consumer", value: nameValue(consumerNames, func(s *Spec) **Text { return &s.Consumer })},
	{name: "package", value: nameValue(packageNames, func(s *Spec) **Text { return &s.Package })},
	{name: "description", value: textValue(func(s *Spec) **Text { return &s.Description })},
	{name: "examples", value: pathValue(func(s *Spec) **Text { return &s.Examples })},
	{name: "types", value: value[Spec]{shape{entries: &shape{keys: typeKeys.shapes()}}, (*walker).types}},
	{name: "tables", value: value[Spec]{shape{entries: &shape{keys: tableKeys.shapes()}}, (*walker).tables}},
	{name: "topics", value: value[Spec]{shape{entries: &shape{keys: topicKeys.shapes()}}, (*walker).topics}},
	{name: "on_failure", value: put(shape{keys: failureKeys.shapes()}, func(s *Spec) **FailurePolicy { return &s.OnFailure }, (*walker).failurePolicy)},
	{name: "limits", value: put(shape{keys: limitKeys.shapes()}, func(s *Spec) **Limits { return &s.Limits }, (*walker).limits)},
	{name: "migrations", value: put(shape{keys: migrationKeys.shapes()}, func(s *Spec) **Migrations { return &s.Migrations }, (*walker).migrations)},
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
		w.service(e, s)
	}
	return s, ds
}

func (w *walker) version(e entry, s *Spec) bool {
	t, ok := w.full(e)
	if ok && t.Value != "1" && !w.variable(t.Pos, t.Value) {
		w.ds.Add(t.Pos, "E109", fmt.Sprintf("spec version %s is not supported", quote(t.Value)), "this idemgen reads version 1")
	}
	return ok && t.Value == "1"
}

// service checks what a service spec needs. A file without consumer is a library.
func (w *walker) service(e entry, s *Spec) {
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
		w.unbuiltLibrary(pos)
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

func (w *walker) unbuiltLibrary(pos Pos) {
	w.ds.Add(pos, "E115", `a spec without "consumer" is a library, and libraries are not built yet`, "for a service, add consumer: <name>")
}

var failureKeys = keys[FailurePolicy]{
	{name: "retries", value: intValue(func(f *FailurePolicy) **Int { return &f.Retries }, 0, 1_000_000)},
	{name: "initial_backoff", value: durationValue(func(f *FailurePolicy) **Duration { return &f.InitialBackoff }, "1ms", "1d")},
	{name: "max_backoff", value: durationValue(func(f *FailurePolicy) **Duration { return &f.MaxBackoff }, "1ms", "1d")},
	{name: "give_up", value: wordValue(func(f *FailurePolicy) **Text { return &f.GiveUp }, "dead_letter", "stop")},
	{name: "stop_after", value: intValue(func(f *FailurePolicy) **Int { return &f.StopAfter }, 1, 1_000_000)},
	{name: "keep", value: durationValue(func(f *FailurePolicy) **Duration { return &f.Keep }, "1s", "3650d")},
	{name: "park", meanwhile: "until then, give_up: stop halts the whole partition before the record"},
	{name: "dead_letter_topic", meanwhile: "dead letters are rows of idem_dead_letter: send them on from there"},
	{name: "dead_letter_payload", meanwhile: "leave it out: a row of idem_dead_letter holds the record as it came"},
}

func (w *walker) failurePolicy(e entry) (*FailurePolicy, bool) {
	f := &FailurePolicy{Key: e.key, Pos: e.node.Pos}
	f.Broken = !walkMap(w, e, failureKeys, f)
	if f.GiveUp != nil && f.GiveUp.Value == "stop" {
		for _, p := range e.node.Pairs {
			if p.Key == "stop_after" || p.Key == "keep" {
				f.Broken = true
				w.ds.Add(p.KeyPos, "E707", fmt.Sprintf("give_up: stop never writes dead letters, so %q means nothing here", p.Key), "leave one of the two out")
			}
		}
	}
	return f, true
}

var limitKeys = keys[Limits]{
	{name: "batch_events", value: intValue(func(l *Limits) **Int { return &l.BatchEvents }, 1, 10_000)},
	{name: "batch_bytes", value: sizeValue(func(l *Limits) **Size { return &l.BatchBytes }, "1KiB", "256MiB")},
	{name: "batch_wait", value: durationValue(func(l *Limits) **Duration { return &l.BatchWait }, "1ms", "1m")},
	{name: "batch_timeout", value: durationValue(func(l *Limits) **Duration { return &l.BatchTimeout }, "1ms", "1d")},
	{name: "event_timeout", value: durationValue(func(l *Limits) **Duration { return &l.EventTimeout }, "1ms", "1d")},
	{name: "statement_timeout", value: durationValue(func(l *Limits) **Duration { return &l.StatementTimeout }, "1ms", "1d")},
	{name: "lock_timeout", value: durationValue(func(l *Limits) **Duration { return &l.LockTimeout }, "1ms", "1d")},
	{name: "max_poll_interval", value: durationValue(func(l *Limits) **Duration { return &l.MaxPollInterval }, "1s", "1d")},
	{name: "max_payload", value: sizeValue(func(l *Limits) **Size { return &l.MaxPayload }, "1KiB", "256MiB")},
	{name: "max_depth", value: intValue(func(l *Limits) **Int { return &l.MaxDepth }, 1, 1000)},
	{name: "effect_concurrency", meanwhile: "leave it out: the handlers of a partition run one after the other"},
}

func (w *walker) limits(e entry) (*Limits, bool) {
	l := &Limits{Key: e.key, Pos: e.node.Pos}
	l.Broken = !walkMap(w, e, limitKeys, l)
	return l, true
}

var migrationKeys = keys[Migrations]{
	{name: "dir", value: pathValue(func(m *Migrations) **Text { return &m.Dir })},
	{name: "format", value: put(shape{words: []string{"sql"}}, func(m *Migrations) **Text { return &m.Format }, func(w *walker, e entry) (*Text, bool) {
		return w.word(e, []string{"sql"}, []string{"goose", "golang_migrate"}, "until then, format: sql writes numbered files, which either of them can run as they are once they are renamed")
	})},
}

func (w *walker) migrations(e entry) (*Migrations, bool) {
	m := &Migrations{Key: e.key, Pos: e.node.Pos}
	m.Broken = !walkMap(w, e, migrationKeys, m)
	return m, true
}
