package syntax

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Of near words the nearest is proposed, of more than those none; words that are far, very
// different in length or very many are not.
func TestClosestOfWords(t *testing.T) {
	long := strings.Repeat("ab", 40)
	many := make([]string, maxCandidates)
	for i := range many {
		many[i] = fmt.Sprintf("%d_is_another", i)
	}
	for _, c := range []struct {
		text  string
		words []string
		want  string
	}{
		{"ab", []string{"ba"}, "ba"},               // one transposition
		{"ab", []string{"bc"}, ""},                 // none
		{"ab", []string{"ca"}, ""},                 //
		{"abcdef", []string{"badcfe"}, ""},         // three of them
		{"abcdef", []string{"badcef"}, "badcef"},   // two, a third of the length
		{"abcde", []string{"badce"}, ""},           // two are more than that
		{"abc", []string{"abcd"}, "abcd"},          // an insertion
		{"abcd", []string{"abc"}, "abc"},           // a deletion
		{"abc", []string{"abcde"}, ""},             // two of them
		{"abcde", []string{"abc"}, ""},             //
		{"a", []string{"b"}, "b"},                  // one is always near
		{"a", []string{"bc"}, ""},                  //
		{"é", []string{"e"}, "e"},                  // characters count, not bytes
		{"abcd", []string{"abce", "abxd"}, "abce"}, // equally near
		{"abcd", []string{"abxd", "abce"}, "abce"}, //
		{"abcdef", []string{"abcdxx", "abcdxf"}, "abcdxf"},
		{"A-b c", []string{"a_b_c", "a_b_d"}, "a_b_c"},
		{long + "x", []string{long}, long},
		{long, []string{long + "y"}, long + "y"},
		{long, []string{strings.Repeat("ba", 40)}, strings.Repeat("ba", 40)},
		{"word", append(slices.Clone(many[1:]), "wort"), "wort"},
		{"word", append(slices.Clone(many), "wort"), ""},
	} {
		if got := Closest(c.text, c.words); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// A name that is not there is answered by the near one, else by all there are, unless these are
// many.
func TestUnknownNamesAreAnsweredByOthers(t *testing.T) {
	twelve := strings.Fields("k l i j a b c d e f g h")
	for want, names := range map[string][]string{
		`the spec has no topic "orders"`:                                                  nil,
		`the spec has no topic "orders"; did you mean "order"?`:                           append([]string{"order"}, twelve...),
		`the spec has no topic "orders"; topics here: a, b`:                               {"b", "a"},
		`the spec has no topic "orders"; topics here: a, b, c, d, e, f, g, h, i, j, k, l`: twelve,
	} {
		if got := Unknown("the spec", "topic", "orders", names).Error(); got != want {
			t.Errorf("%v: %s, want %s", names, got, want)
		}
	}
	if got := Unknown("the spec", "topic", "orders", append(twelve, "m")).Error(); strings.Contains(got, ";") {
		t.Errorf("of thirteen names: %s", got)
	}
}

// A spec can have each name of a database that is seen and that nothing else would be read into.
func TestNamesOfDatabasesThatNoSpecHas(t *testing.T) {
	for name, want := range map[string]string{
		"orders": "", " x ": "", "": "is blank", " \t": "is blank", "a${b}": "looks like an environment variable",
		"{{a": "looks like a template", "a\nb": "has a control character",
	} {
		if got := StoredFlaw(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// What is made of messages is as if it stood in the spec, at the place that names them.
func TestPartsOfOtherFilesAreAtThePlaceThatNamesThem(t *testing.T) {
	at := Pos{Line: 3, Col: 5, Width: 7}
	f := NewField("total", "optional list(Line)", []string{"a", "b"}, at)
	if f.Name != (Text{Value: "total", Key: at, Pos: at}) || f.Pos != at || !f.Type.Optional || f.Type.Elem.Name != "Line" ||
		!equal(*f.Path, Path{Text: "total", Members: []string{"a", "b"}, Key: at, Pos: at}) {
		t.Errorf("a field: %+v", f)
	}
	if f := NewField("total", "int64", nil, at); f.Path != nil || f.Type.Name != "int64" {
		t.Errorf("a field without a path: %+v", f)
	}
	if o := NewObject("Line", []*Field{f}, at); !equal(*o, Type{Name: Text{Value: "Line", Key: at, Pos: at}, Kind: ObjectType, Fields: []*Field{f}, Pos: at, Body: at}) {
		t.Errorf("an object: %+v", o)
	}
	texts := []Text{{Value: "a", Key: at, Pos: at}, {Value: "b", Key: at, Pos: at}}
	if e := NewEnum("Kind", []string{"a", "b"}, at); !equal(*e, Type{Name: Text{Value: "Kind", Key: at, Pos: at}, Kind: EnumType, Enum: texts, Pos: at, Body: at}) {
		t.Errorf("an enum: %+v", e)
	}
}

// Words of a list are found, and none in a list that is not there.
func TestWordsOfAList(t *testing.T) {
	w := &Words{Items: []Text{{Value: "ordered"}, {Value: "unique"}}}
	if got := w.Get("unique"); got != &w.Items[1] || w.Get("other") != nil || (*Words)(nil).Get("unique") != nil {
		t.Errorf("unique is %+v", got)
	}
}

// A step lacks the keys that it does not have, however they are written.
func TestKeysThatAStepLacks(t *testing.T) {
	s := readStep(&walker{ds: &Diagnostics{}}, &Node{Kind: MapNode, Pairs: []Pair{
		{Key: "upsert", Value: &Node{Kind: ScalarNode, Text: "a"}},
		{Key: "kep", Value: &Node{Kind: ScalarNode, Text: "a"}},
		{Key: "set", Value: &Node{Kind: ScalarNode, Text: "a"}},
	}})
	for key, want := range map[string]bool{"upsert": false, "set": false, "kep": false, "keep": false, "by": true, "where": true} {
		if got := s.Lacks(key); got != want {
			t.Errorf("%s is lacking: %v", key, got)
		}
	}
}

// The error for a file that cannot be read names its first byte or character that is not allowed.
func TestFilesOfOtherEncodings(t *testing.T) {
	for data, want := range map[string]string{
		"\xff\xfea\x00":      "1:1 the file is UTF-16, not UTF-8 | save it as UTF-8 without a byte order mark",
		"\xfe\xff\x00a":      "1:1 the file is UTF-16, not UTF-8 | save it as UTF-8 without a byte order mark",
		"\ufeffa: b":         "1:1 the file starts with a byte order mark (BOM) | save it as UTF-8 without a byte order mark",
		"a: é\nb: ü\xfc":     "2:5 the file is not UTF-8: byte 0xfc | save it as UTF-8 without a byte order mark",
		"a: \ufffd":          "",
		"a: b\r\nc: d\r\n":   "",
		"a: b\rc":            `1:5 the character U+000D is not allowed in a spec | remove it; where a string needs it, write \u000D inside of "..."`,
		"a: b\r":             `1:5 the character U+000D is not allowed in a spec | remove it; where a string needs it, write \u000D inside of "..."`,
		"a: b\x00":           "1:5 the character U+0000 is not allowed in a spec | remove it",
		"a: \x1f":            `1:4 the character U+001F is not allowed in a spec | remove it; where a string needs it, write \u001F inside of "..."`,
		"a: ~ # \x7f":        `1:8 the character U+007F is not allowed in a spec | remove it; where a string needs it, write \u007F inside of "..."`,
		"a: \u009f":          `1:4 the character U+009F is not allowed in a spec | remove it; where a string needs it, write \u009F inside of "..."`,
		"a: \u00a0\t":        "",
		"a:\n- \u2028":       `2:3 the character U+2028 is not allowed in a spec | remove it; where a string needs it, write \u2028 inside of "..."`,
		"a: \u2029":          `1:4 the character U+2029 is not allowed in a spec | remove it; where a string needs it, write \u2029 inside of "..."`,
		"a: b\ufeff":         `1:5 the character U+FEFF is not allowed in a spec | remove it; where a string needs it, write \uFEFF inside of "..."`,
		"a: \ufffe":          `1:4 the character U+FFFE is not allowed in a spec | remove it; where a string needs it, write \uFFFE inside of "..."`,
		"a: \uffff":          `1:4 the character U+FFFF is not allowed in a spec | remove it; where a string needs it, write \uFFFF inside of "..."`,
		"a: \U00010000":      "",
		"a: '\u2027\u202a '": "",
	} {
		var ds Diagnostics
		sound := checkEncoding([]byte(data), &ds)
		got := ""
		for _, d := range ds.Sorted() {
			got += fmt.Sprintf("%d:%d %s | %s", d.Pos.Line, d.Pos.Col, d.Message, d.Hint)
		}
		if got != want || sound != (want == "") {
			t.Errorf("%q: %v, %s\nwant %s", data, sound, got, want)
		}
	}
}

// An encoding tells what else a topic's entry has.
func TestEncodings(t *testing.T) {
	for word, want := range map[string][4]bool{
		"": {}, "plain": {}, "json_string": {true}, "confluent_json": {true, false, true}, "avro": {true, true, false, true},
		"confluent_avro": {true, true, true, true}, "protobuf": {true, true}, "confluent_protobuf": {true, true, true},
	} {
		p := &Packing{Encoding: &Text{Value: word}}
		if word == "" {
			p.Encoding = nil
		}
		if got := [4]bool{p.Encoded() != "", p.OfMessages(), p.Framed(), p.Avro()}; got != want {
			t.Errorf("%q: %v, want %v", word, got, want)
		}
	}
	p := &Packing{Schema: &Text{Value: "a.proto#b.C#d"}}
	if file, name := p.SchemaParts(); file != "a.proto" || name != "b.C#d" {
		t.Errorf("a schema of %s and %s", file, name)
	}
}

// A name in the place of a record key is kept for the reader of types, who says what to write.
func TestANameAloneIsARecordKeyWithoutParts(t *testing.T) {
	s, _ := Load("x.yaml", []byte("topics:\n  t:\n    record_key: order_id\n"))
	if k := s.Topics[0].RecordKey; k == nil || !k.Broken || len(k.Parts) > 0 ||
		*k.Alone != (Text{Value: "order_id", Key: Pos{Line: 3, Col: 5, Width: 10}, Pos: Pos{Line: 3, Col: 17, Width: 8}}) {
		t.Errorf("%+v", k)
	}
}

// A value names a field, an element, its member, or a member of the result.
func TestWhatAValueNames(t *testing.T) {
	for text, want := range map[string]Value{
		"total": {Kind: FieldValue, Name: "total"}, "each": {Kind: ElementValue}, "each.a": {Kind: MemberValue, Name: "a"},
		"result.a": {Kind: ResultValue, Name: "a"}, "eachs": {Kind: FieldValue, Name: "eachs"}, "result": {Kind: FieldValue, Name: "result"},
	} {
		got, ok := readValue(&walker{ds: &Diagnostics{}}, entry{what: "a value", node: &Node{Kind: ScalarNode, Text: text}})
		if got != want || !ok {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// A problem without a place names the file alone, and one behind the file's end shows no line.
func TestProblemsWithoutALine(t *testing.T) {
	var ds Diagnostics
	ds.Add(Pos{}, "E101", "a", "b")
	ds.Add(Pos{Line: 3, Col: 2, Width: 1}, "E102", "c", "")
	if got, want := printed(t, ds, "x", []byte("d\n")), "x: E101: a\n      = hint: b\nx:3:2: E102: c\n2 problems found; nothing was written\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Each setting of the environment is hidden, wherever it stands and in whatever order the settings
// are found, and what is behind one moves with it.
func TestSettingsAreHidden(t *testing.T) {
	var ds Diagnostics
	ds.Add(Pos{Line: 2, Col: 11, Width: 1}, "E101", "a", "")
	ds.Add(Pos{Line: 3, Col: 1, Width: 1}, "E102", "b", "")
	for _, m := range []Pos{{Line: 3, Col: 9, Width: 9}, {Line: 2, Col: 7, Width: 2}, {Line: 2, Col: 1, Width: 4}, {Line: 2, Col: 2, Width: 3}, {Line: 2, Col: 40, Width: 2}, {Line: 3, Col: 4, Width: 1}} {
		ds.Mask(m)
	}
	want := `x:2:11: E101: a
    2 | ***56***9ab
      |           ^
x:3:1: E102: b
    3 | cde***gh i***
      | ^
2 problems found; nothing was written
`
	if got := printed(t, ds, "x", []byte("first\n123456789ab\ncdefgh ij")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
