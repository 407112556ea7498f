package view_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/gen/view"
	"github.com/idemgen/idemgen/runtime/wire"
)

const people = `version: 1
consumer: people
package: people
types:
  Card: {fields: {number: {type: string, sensitive: true}, brand: string}}
tables:
  people: {primary_key: [id], columns: {id: uuid, mail: text, cards: jsonb, token: text}}
topics:
  people.v1:
    record_key: {id: uuid}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 8d}
    events:
      Joined:
        type: joined
        fields:
          id: uuid
          mail: {type: string, sensitive: true}
          cards: list(Card)
          token: {type: string, header: X-Token, sensitive: true}
        write: [{insert: people}]
      Left:
        type: left
        fields: {id: uuid}
        write: [{delete: people}]
`

func read(t *testing.T, spec string) *view.Spec {
	t.Helper()
	s, err := view.Read(fstest.MapFS{view.SpecFile: {Data: []byte(spec)}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the spec calls sensitive is in no text that is shown: not in the payload, wherever it is
// there, not in a header, not in a payload that cannot be read, and not without the spec.
func TestSensitiveValuesAreHidden(t *testing.T) {
	s := read(t, people)
	value := `{"id": 1, "mail": "SECRET", "before": {"MAIL": {"a": ["SECRET"]}}, "cards": [{"number": "SECRET", "brand": "visa"}], "n": 12345678901234567890.10}`
	m := wire.Message{Key: []byte("7"), Value: []byte(value), Headers: []wire.Header{{Name: "x-token", Value: []byte("SECRET")}, {Name: "type", Value: []byte("joined")}}}
	for name, c := range map[string]struct {
		spec         *view.Spec
		topic, event string
		value        string
		shows        []string
	}{
		"of the event":      {s, "people.v1", "Joined", value, []string{"visa", "12345678901234567890.10", `"mail": "[sensitive]"`}},
		"of no known event": {s, "people.v1", "", value, []string{"visa"}},
		"of a former event": {s, "people.v1", "Gone", value, []string{"visa"}},
		"not JSON":          {s, "people.v1", "Joined", `{"mail": "SECRET"`, []string{"cannot be decoded"}},
		"more than JSON":    {s, "people.v1", "Joined", `{} "SECRET"`, []string{"cannot be decoded"}},
		"another topic":     {s, "other.v1", "", value, []string{"has no topic"}},
		"no spec":           {nil, "people.v1", "Joined", value, []string{"no spec here defines"}},
	} {
		m.Value = []byte(c.value)
		shown := c.spec.Show(c.topic, c.event, &m)
		all := shown.Key + shown.Payload + shown.Hidden
		for _, h := range shown.Headers {
			all += h.Name + h.Value
		}
		if strings.Contains(all, "SECRET") || shown.Raw {
			t.Errorf("%s: shown: %+v", name, shown)
		}
		for _, want := range c.shows {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %q is not in %s", name, want, all)
			}
		}
	}
	if cut := `{"code": "declined", "sta`; s.Response("people.v1", "Left", []byte(cut)) != cut || s.Response("people.v1", "Joined", []byte(cut)) != view.Redacted {
		t.Error("a response that is cut is shown beside sensitive values, or not without them")
	}
	if shown := s.Show("people.v1", "Left", &m); !shown.Raw || !strings.Contains(shown.Payload, "SECRET") {
		t.Errorf("an event without sensitive fields is not shown: %+v", shown)
	}
}

// A sensitive member is hidden wherever JSON is shown, and in whatever form it is there: as the
// value, the record key, a header, or what an effect returned, behind a byte order mark, in
// another encoding of texts, and in a text within another one. Texts that only look similar are
// shown.
func TestSensitiveMembersAreHiddenInEveryText(t *testing.T) {
	s := read(t, strings.Replace(strings.Replace(people, "types:\n", "types:\n  Receipt: {fields: {receipt: string, pan: {type: string, sensitive: true}}}\n", 1),
		"        write: [{insert: people}]\n", "        effect: {timeout: 10s, if_interrupted: retry, result: Receipt}\n        write: [{insert: people}]\n", 1))
	wide := func(text string, first, second int) string { // UTF-16
		var out strings.Builder
		for _, r := range text {
			out.WriteString(string([]byte{byte(int(r) * first), byte(int(r) * second)}))
		}
		return out.String()
	}
	in := func(text string) string { return strconv.Quote(text) }
	const bom = "\ufeff"
	for _, member := range []string{"mail", "pan"} {
		object := `{"a": "plain", "` + member + `": "SECRET"}`
		for name, text := range map[string]string{
			"JSON": object, "a byte order mark": bom + object, "blanks": " \n\t" + object, "both": " " + bom + " " + object + bom, "a list": "[" + object + "]",
			"a text": in(object), "a mark in a text": in(bom + object), "a text in a text": in(in(object)), "a text below": `{"data": ` + in(object) + `}`,
			"a text in texts below": `{"data": {"data": [` + in(`{"data": `+in(bom+object)+`}`) + `]}}`, "another case": strings.Replace(object, member, strings.ToUpper(member), 1),
			"a mark, and an escaped name": bom + strings.Replace(object, member, member[:1]+`\u0061`+member[2:], 1),
			"an escaped name":             strings.Replace(object, member, member[:1]+`\u0061`+member[2:], 1), "the end is missing": object[:len(object)-1],
			"two of them": object + object, "behind a text": "event: " + object, "behind a text below": `{"data": ` + in("event: "+object) + `}`,
			"cut off below": `{"data": ` + in(object[:len(object)-1]) + `}`, "little-endian": wide(object, 1, 0), "big-endian": wide(object, 0, 1),
			"marked little-endian": "\xff\xfe" + wide(object, 1, 0), "an escaped name, cut off": strings.Replace(object, member, member[:1]+`\u0061`+member[2:], 1)[:len(object)+4],
		} {
			shown := s.Result("people.v1", "Joined", []byte(text)) + s.Response("people.v1", "Joined", []byte(text))
			if member == "mail" { // of the record
				all := s.Show("people.v1", "Joined", &wire.Message{Key: []byte(text), Value: []byte(text), Headers: []wire.Header{{Name: "context", Value: []byte(text)}}})
				shown += all.Key + all.Payload + all.Hidden + all.Headers[0].Value
			}
			if strings.Contains(strings.ReplaceAll(shown, ".", ""), "SECRET") || strings.Contains(shown, `S\u0000E`) || shown == "" {
				t.Errorf("%s of %s: shown: %s", member, name, shown)
			}
		}
	}
	for _, text := range []string{"7", "", "mail", "[urgent] write a mail", `"quoted"`, "a\"b", "e-mail: {none}"} {
		all := s.Show("people.v1", "Joined", &wire.Message{Key: []byte(text), Value: []byte(`{"data": ` + in(text) + `}`), Headers: []wire.Header{{Name: "context", Value: []byte(text)}}})
		if all.Key != text || all.Headers[0].Value != text || !strings.Contains(all.Payload, in(text)) {
			t.Errorf("%q is shown as %+v", text, all)
		}
	}
	if shown := s.Result("people.v1", "Joined", []byte(`{"receipt": "R-7", "pan": "SECRET"}`)); !strings.Contains(shown, `"receipt": "R-7"`) {
		t.Errorf("a result is shown as %s", shown)
	}
	if shown := s.Result("other.v1", "Joined", []byte(`{"pan": "SECRET"}`)); shown != "" {
		t.Errorf("a result of a topic that is not known: %s", shown)
	}
}

// A record that was made to harm is shown as characters that do nothing, at a length that a page
// can have.
func TestHostileRecordsAreShownHarmless(t *testing.T) {
	s := read(t, people)
	for name, value := range map[string]string{
		"control characters": "{\"a\": \"\\u001b[2J\u202e\u0085x\"}", "text": "\x1b[2J\u202e", "invalid UTF-8": "\xff\xfe{",
		"a million": `{"a": "` + strings.Repeat("x", 1<<20) + `"}`, "deep": strings.Repeat("[", 100_000),
	} {
		shown := s.Show("people.v1", "Left", &wire.Message{Key: []byte(value), Value: []byte(value)})
		for _, text := range []string{shown.Payload, shown.Key} {
			if len(text) > 600<<10 {
				t.Errorf("%s: %d bytes are shown", name, len(text))
			}
			if strings.ContainsAny(text, "\x1b\u202e\u0085") || !utf8.ValidString(text) {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
}

// A record key is shown as the spec reads it, and as it is if it cannot be read.
func TestRecordKeysAreUnpacked(t *testing.T) {
	for _, c := range []struct{ format, part, key, want string }{
		{"{encoding: binary}", "int64", "\x00\x00\x00\x00\x00\x00\x00\x07", "7"},
		{"{encoding: binary}", "int32", "\xff\xff\xff\xff", "-1"},
		{"{encoding: binary}", "uuid", "ABCDEFGHabcdefgh", "41424344-4546-4748-6162-636465666768"},
		{"{encoding: binary}", "int64", "7", "7"},
		{"{encoding: confluent_json}", "{type: int64, path: id}", "\x00\x00\x00\x00\x01{\"id\":7}", "{\n  \"id\": 7\n}"},
		{"{encoding: confluent_json}", "{type: int64, path: $}", "7", "7"},
	} {
		s := read(t, `version: 1
consumer: keyed
package: keyed
topics:
  keyed.v1:
    record_key: {id: `+c.part+`}
    record_key_format: `+c.format+`
    idempotency_key: {source: {header: key}, window: 8d}
    events: {Noted: {handle: true}}
`)
		if shown := s.Show("keyed.v1", "Noted", &wire.Message{Key: []byte(c.key), Value: []byte("{}")}); shown.Key != c.want {
			t.Errorf("%s %s: %q is shown as %q", c.format, c.part, c.key, shown.Key)
		}
	}
}

// A binary header is shown as the value that it holds, and as it is if it holds none.
func TestBinaryHeadersAreShownAsValues(t *testing.T) {
	s := read(t, `version: 1
consumer: c
package: p
topics:
  t.v1:
    idempotency_key: {source: id, window: 8d}
    events: {Noted: {fields: {id: {type: uuid, header: id, encoding: binary}, n: {type: int64, header: n, encoding: binary}}, handle: true}}
`)
	shown := s.Show("t.v1", "Noted", &wire.Message{Value: []byte("{}"), Headers: []wire.Header{{Name: "id", Value: []byte("ABCDEFGHabcdefgh")}, {Name: "n", Value: []byte("7")}}})
	if h := shown.Headers; h[0].Value != "41424344-4546-4748-6162-636465666768" || h[1].Value != "7" {
		t.Errorf("%q", h)
	}
}
