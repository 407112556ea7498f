package syntax

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// languages are both of them, in sections.
func languages() (all []Section) {
	Language().Each(func(s Section) { all = append(all, s) })
	CaseLanguage().Each(func(s Section) { all = append(all, s) })
	return all
}

var sentences = regexp.MustCompile(`^[A-Z](.*[^ ])?\.$`)

// Each key says what it is for, in whole sentences, and shows how it is written.
func TestEveryKeySaysWhatItIsFor(t *testing.T) {
	seen := 0
	for _, s := range languages() {
		if s.Rules == "" && len(s.Keys) > 1 {
			t.Errorf("no page has the rules of the keys of %s", s.Of)
		}
		for _, k := range s.Keys {
			seen++
			if text := strings.TrimSpace(k.Text + " " + k.More); !sentences.MatchString(k.Text) || !sentences.MatchString(text) {
				t.Errorf("%s of %s: not whole sentences: %q", k.Name, s.Of, text)
			}
			if k.Example == "" {
				t.Errorf("nothing shows %s of %s", k.Name, s.Of)
			}
		}
	}
	if seen < 120 {
		t.Errorf("%d keys only", seen)
	}
}

// frames are files around the examples of keys, by the sections whose keys they show. An example
// stands for the line with its key, or for @.
var frames = []struct{ of, file string }{
	{"the spec, migrations, limits", "version: 1\nconsumer: a\npackage: a\ntopics: {t: {events: {E: {handle: true}}}}\n@"},
	{"a type", "types:\n  @"},
	{"a field", "topics:\n  t:\n    events:\n      E:\n        handle: true\n        fields:\n          @"},
	{"a table, a foreign key", "tables:\n  t:\n    columns: {a: text}\n    primary_key: [a]\n    @"},
	{"a column", "tables:\n  t:\n    primary_key: [a]\n    columns:\n      @"},
	{"a topic, a record-key part, record_key_format, payload, event_type, idempotency_key, source, on_failure",
		"topics:\n  t:\n    events: {E: {handle: true}}\n    @"},
	{"an event, effect", "topics:\n  t:\n    events:\n      @"},
	{"a step, a step's value", "topics:\n  t:\n    events:\n      E:\n        write:\n          @"},
	{"a case, dead_letters", "events: [{topic: t, value: {}}]\nthen: nothing\n@"},
	{"a record of a case", "then: nothing\nevents:\n  @"},
}

// in puts an example into a frame.
func in(frame, example string) string {
	key, _, _ := strings.Cut(example, ":")
	var out []string
	for _, line := range strings.Split(frame, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		switch text := strings.TrimLeft(line, " "); {
		case text == "@":
			out = append(out, indent+strings.ReplaceAll(example, "\n", "\n"+indent))
		case !strings.HasPrefix(text, key+":"):
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// holds reports whether a node has a key, at any depth.
func holds(n *Node, key string) bool {
	return slices.ContainsFunc(n.Pairs, func(p Pair) bool { return p.Key == key || holds(p.Value, key) }) ||
		slices.ContainsFunc(n.Items, func(item *Node) bool { return holds(item, key) })
}

// What the reference shows of a key is read, and has the key.
func TestExamplesOfKeysAreRead(t *testing.T) {
	shown := 0
	for _, s := range languages() {
		frame := ""
		for _, f := range frames {
			if slices.Contains(strings.Split(f.of, ", "), s.Of) {
				frame = f.file
			}
		}
		if frame == "" {
			t.Errorf("no frame for the keys of %s", s.Of)
			continue
		}
		load := func(text string) Diagnostics {
			if strings.Contains(frame, "then:") {
				_, ds := LoadCase("case.yaml", []byte(text))
				return ds
			}
			_, ds := Load("idemgen.yaml", []byte(text))
			return ds
		}
		for _, k := range s.Keys {
			example := k.Example
			if k.Name == "description" && s.Of != "the spec" && s.Of != "a table" && s.Of != "a case" {
				continue // shown once, of whatever has a name
			}
			text := in(frame, example)
			for _, d := range load(text).list {
				if lacks := d.Code == "E105" && strings.Contains(d.Message, "the spec lacks"); !lacks {
					t.Errorf("%s of %s: %s %s\n%s", k.Name, s.Of, d.Code, d.Message, text)
				}
			}
			if n, ds := Parse([]byte(example)); n == nil || !holds(n, k.Name) {
				t.Errorf("%q does not show %s of %s (%v)", example, k.Name, s.Of, ds.list)
			}
			shown++
		}
	}
	if shown < 110 {
		t.Errorf("%d examples only", shown)
	}
}

// A spec of the golden cases or the examples has each key of the language: none is only read.
func TestEveryKeyIsUsedByASpec(t *testing.T) {
	used := map[string]bool{}
	for _, glob := range []string{"testdata/golden/accepted/*/idemgen.yaml", "examples/*/idemgen.yaml", "examples/*/*/idemgen.yaml", "bench/*/idemgen.yaml"} {
		files, err := filepath.Glob(filepath.Join("../../..", glob))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n, _ := Parse(bytes.TrimSpace(data))
			uses(Shape{Section: specShape.Section}, n, used)
		}
	}
	for _, s := range languages() {
		for _, k := range s.Keys {
			if key := k.Name + " of " + s.Of; !used[key] && s.Of != "a case" && s.Of != "a record of a case" && s.Of != "dead_letters" && k.Name != "description" {
				t.Errorf("no spec has %s", key)
			}
		}
	}
}

// uses notes the keys of a value.
func uses(s Shape, n *Node, used map[string]bool) {
	for _, form := range s.Or {
		uses(form, n, used)
	}
	for _, p := range n.Pairs {
		if s.Section != nil {
			if i := slices.IndexFunc(s.Section.Keys, func(k Key) bool { return k.Name == p.Key }); i >= 0 {
				used[p.Key+" of "+s.Section.Of] = true
				uses(s.Section.Keys[i].Shape, p.Value, used)
			}
		} else if s.Entries != nil {
			uses(*s.Entries, p.Value, used)
		}
	}
	for _, item := range n.Items {
		if s.Items != nil {
			uses(*s.Items, item, used)
		}
	}
}
