package eventkey_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/eventkey"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/runtime/wire"
)

// keyed is a service with one event, whose key is field f of a type.
func keyed(t *testing.T, kind string) *model.Service {
	t.Helper()
	return read(t, fmt.Sprintf(`version: 1
consumer: c
package: p
types:
  Color: {enum: [red, green]}
tables:
  t: {primary_key: [f], columns: {f: text}}
topics:
  t.v1:
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 8d}
    events:
      Said:
        type: said
        fields: {f: %s}
        idempotency_key: {source: f, window: 8d, compare: nothing}
        write: [{insert: t, set: {f: {value: x}}}]
      Other: {type: other, fields: {color: Color}, handle: true}
`, kind))
}

// read is the service of a spec.
func read(t *testing.T, text string) *model.Service {
	t.Helper()
	spec, bad := syntax.Load("idemgen.yaml", []byte(text))
	service, more := resolve.Resolve(spec)
	bad.Append(more)
	if bad.Errors() > 0 {
		var text strings.Builder
		_ = bad.Print(&text, "idemgen.yaml", nil)
		t.Fatal(text.String())
	}
	return service
}

// of is the key by a value of field f.
func of(t *testing.T, s *model.Service, value string) [16]byte {
	t.Helper()
	keys, err := eventkey.Of(s, "t.v1", "", []eventkey.Value{{Name: "f", Text: value}})
	if err != nil || len(keys) != 1 || keys[0].Event != "Said" || keys[0].Window != 8*24*time.Hour {
		t.Fatalf("%v, %v", keys, err)
	}
	return keys[0].Hash
}

// A value gives the key that the service makes of it, however it is written.
func TestKeyIsThatOfTheService(t *testing.T) {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	id, err := wire.ParseUUID("01890a5d-ac96-774b-bcce-b302099a8057")
	if err != nil {
		t.Fatal(err)
	}
	day, err := wire.ParseDate("2026-11-23")
	if err != nil {
		t.Fatal(err)
	}
	for kind, c := range map[string]struct {
		add   func(k *wire.KeyBuilder)
		texts []string
	}{
		"any_epoch_s": {func(k *wire.KeyBuilder) { k.Time("f", time.Unix(0, 0).UTC()) }, []string{"0"}},
		"string":      {func(k *wire.KeyBuilder) { k.Text("f", "42") }, []string{"42"}},
		"Color":       {func(k *wire.KeyBuilder) { k.Text("f", "red") }, []string{"red"}},
		"int32":       {func(k *wire.KeyBuilder) { k.Int32("f", 42) }, []string{"42"}},
		"int64":       {func(k *wire.KeyBuilder) { k.Int64("f", -42) }, []string{"-42"}},
		"uuid":        {func(k *wire.KeyBuilder) { k.UUID("f", id) }, []string{"01890a5d-ac96-774b-bcce-b302099a8057", "01890A5D-AC96-774B-BCCE-B302099A8057"}},
		"decimal":     {func(k *wire.KeyBuilder) { k.Decimal("f", wire.MustDecimal("1.5")) }, []string{"1.5", "1.500", "15e-1"}},
		"timestamp":   {func(k *wire.KeyBuilder) { k.Time("f", at) }, []string{"2026-11-23T09:00:00Z", "2026-11-23T10:00:00+01:00"}},
		"epoch_ms":    {func(k *wire.KeyBuilder) { k.Time("f", at) }, []string{"1795424400000"}},
		"date":        {func(k *wire.KeyBuilder) { k.Date("f", day) }, []string{"2026-11-23"}},
		"bytes":       {func(k *wire.KeyBuilder) { k.Bytes("f", []byte("hi?")) }, []string{"aGk/"}},
	} {
		s := keyed(t, kind)
		var k wire.KeyBuilder
		space := s.Topics[0].Events[0].Key.Space
		k.Start(string(space[:]))
		c.add(&k)
		want, err := k.Sum("Said")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range c.texts {
			if got := of(t, s, text); got != want {
				t.Errorf("%s %s: %x, not %x", kind, text, got, want)
			}
		}
	}
}

func TestWhatIsNoKeyIsRefused(t *testing.T) {
	for _, c := range []struct {
		kind, topic, event, name, text, says string
	}{
		{"int32", "t.v1", "", "f", "4x", "f of Said: must be"},
		{"int32", "t.v2", "", "f", "4", `has no topic "t.v2"; did you mean "t.v1"?`},
		{"int32", "t.v1", "Sad", "f", "4", `topic t.v1 has no event "Sad"; did you mean "Said"?`},
		{"int32", "t.v1", "", "g", "4", "no event has a key of g: Said has f"},
		{"Color", "t.v1", "", "f", "blue", "must be one of red, green"},
		{"epoch_s", "t.v1", "", "f", "0", "f of Said: is out of range: the unit may be wrong"},
		{"string", "t.v1", "", "f", "", "is empty, but part of the key"},
	} {
		_, err := eventkey.Of(keyed(t, c.kind), c.topic, c.event, []eventkey.Value{{Name: c.name, Text: c.text}})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	_, err := eventkey.Of(keyed(t, "string"), "t.v1", "", []eventkey.Value{{Name: "f", Text: "1"}, {Name: "f", Text: "2"}})
	if err == nil || err.Error() != "f is given twice" {
		t.Error(err)
	}
}

// byRecordKey is a spec whose event has the key of its record, which is binary.
const byRecordKey = `version: 1
consumer: c
package: p
topics:
  t.v1:
    record_key: {f: %s}
    record_key_format: {encoding: binary}
    idempotency_key: {source: f, window: 8d, compare: nothing}
    events:
      Said: {handle: true}
`

// The bytes of a binary header, or of a binary record key, are those of the value that people
// type.
func TestBinaryFormsHaveTheBytesOfAText(t *testing.T) {
	for kind, c := range map[string]struct{ text, want string }{
		"int32": {"-2", "\xff\xff\xff\xfe"}, "int64": {"7", "\x00\x00\x00\x00\x00\x00\x00\x07"},
		"uuid": {"41424344-4546-4748-6162-636465666768", "ABCDEFGHabcdefgh"}, "bytes": {"/wA=", "\xff\x00"},
	} {
		s := keyed(t, "{type: "+kind+", header: n, encoding: binary}")
		keys, err := eventkey.Of(s, "t.v1", "", []eventkey.Value{{Name: "f", Text: c.text}})
		if err != nil || keys[0].Headers["n"] != c.want {
			t.Errorf("%s: %q, %v, want %q", kind, keys[0].Headers["n"], err, c.want)
		}
		if plain := of(t, keyed(t, "{type: "+kind+", header: n}"), c.text); plain != keys[0].Hash {
			t.Errorf("%s: its key is another one than that of a text", kind)
		}
		if kind == "bytes" { // is no part of a record key
			continue
		}
		s = read(t, fmt.Sprintf(byRecordKey, kind))
		keys, err = eventkey.Of(s, "t.v1", "", []eventkey.Value{{Name: "f", Text: c.text}})
		if err != nil || keys[0].Fields["f"] != c.want {
			t.Errorf("record key, %s: %q, %v, want %q", kind, keys[0].Fields["f"], err, c.want)
		}
	}
}
