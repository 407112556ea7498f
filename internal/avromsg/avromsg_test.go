package avromsg_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/avro"

	"github.com/idemgen/idemgen/internal/avromsg"
	"github.com/idemgen/idemgen/internal/frame"
)

const order = `{"type":"record","name":"Order","namespace":"shop.v1","fields":[
	{"name":"id","type":{"type":"string","logicalType":"uuid"}},
	{"name":"raw_id","type":{"type":"fixed","name":"Id","size":16,"logicalType":"uuid"}},
	{"name":"note","type":["null","string"]},
	{"name":"cents","type":"long"},
	{"name":"n","type":"int"},
	{"name":"gift","type":"boolean"},
	{"name":"ratio","type":"double"},
	{"name":"share","type":"float"},
	{"name":"raw","type":"bytes"},
	{"name":"md5","type":{"type":"fixed","name":"MD5","size":2}},
	{"name":"total","type":{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}},
	{"name":"tax","type":{"type":"fixed","name":"Tax","size":4,"logicalType":"decimal","precision":5,"scale":3}},
	{"name":"day","type":{"type":"int","logicalType":"date"}},
	{"name":"clock","type":{"type":"int","logicalType":"time-millis"}},
	{"name":"fine","type":{"type":"long","logicalType":"time-micros"}},
	{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
	{"name":"there","type":{"type":"long","logicalType":"local-timestamp-micros"}},
	{"name":"channel","type":{"type":"enum","name":"Channel","symbols":["UNKNOWN","WEB"]},"default":"UNKNOWN"},
	{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[{"name":"sku","type":"string"},{"name":"next","type":["null","Line"]}]}}},
	{"name":"counts","type":{"type":"map","values":["null","int"]}},
	{"name":"paid","type":["null","string",{"type":"record","name":"Card","fields":[{"name":"last4","type":"string"}]}]},
	{"name":"one","type":["Channel"]},
	{"name":"grace","type":{"type":"fixed","name":"Grace","size":12,"logicalType":"duration"}}
]}`

const whole = `{"id":"00000000-0000-4000-8000-000000000001","raw_id":"00000000-0000-4000-8000-000000000002","note":"a\"<b","cents":-9007199254740993,` +
	`"n":-1,"gift":true,"ratio":0.1,"share":1.5,"raw":"AP8=","md5":"AQI=","total":-12.50,"tax":1.125,"day":"2026-01-31","clock":61001,"fine":61000001,` +
	`"at":"2026-01-31T12:00:00.001Z","there":"2026-01-31T12:00:00.000001","channel":"WEB","lines":[{"sku":"s","next":{"sku":"t"}}],` +
	`"counts":{"a":null,"b":2},"paid":{"type":"Card","Card":{"last4":"0001"}},"one":"WEB","grace":"AQAAAAIAAAADAAAA"}`

const least = `{"id":"00000000-0000-0000-0000-000000000000","raw_id":"00000000-0000-0000-0000-000000000000","cents":0,` +
	`"n":0,"gift":false,"ratio":0,"share":0,"raw":"","md5":"AAA=","total":0.00,"tax":0.000,"day":"1970-01-01","clock":0,"fine":0,` +
	`"at":"1970-01-01T00:00:00Z","there":"1970-01-01T00:00:00","channel":"UNKNOWN","lines":[],"counts":{},"one":"UNKNOWN","grace":"AAAAAAAAAAAAAAAA"}`

func typeOf(t *testing.T, schema, name string) *avromsg.Type {
	t.Helper()
	is, err := avromsg.New(schema, name)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// What is packed is opened again, whole and with nothing in it; what is cut off, or has something
// behind it, is not.
func TestValuesAreJSON(t *testing.T) {
	is := typeOf(t, order, "")
	for packed, want := range map[string]string{
		whole: whole, `{}`: least,
		`{"paid":{"type":"string","string":"cash"},"ratio":"NaN","total":"1.5","x":1}`: strings.NewReplacer(
			`"ratio":0`, `"ratio":"NaN"`, `"total":0.00`, `"total":1.50`, `"one"`, `"paid":{"type":"string","string":"cash"},"one"`).Replace(least),
	} {
		value, err := is.Pack([]byte(packed))
		if err != nil {
			t.Fatalf("%s: %v", packed, err)
		}
		if got, err := is.Open([]byte("_"), value, is.Own()); err != nil || string(got) != "_"+want {
			t.Errorf("%v\n got %s\nwant _%s", err, got, want)
		}
		if _, err := is.Open(nil, append(value, 0), is.Own()); err == nil || err.Error() != "it has bytes after the shop.v1.Order" {
			t.Errorf("with a byte behind it: %v", err)
		}
		if _, err := is.Open(nil, value[:len(value)-1], is.Own()); err == nil || !strings.HasPrefix(err.Error(), "it is not a valid shop.v1.Order") {
			t.Errorf("cut off: %v", err)
		}
	}
	for _, bad := range []string{`[]`, `{"cents":"x"}`, `{"at":"yesterday"}`, `{"channel":"FAX"}`, `{"paid":{"type":"Cash"}}`, `{"lines":{}}`, `{"raw":"?"}`, `{"gift":1}`, `{"n":99999999999}`} {
		if _, err := is.Pack([]byte(bad)); err == nil {
			t.Errorf("%s is packed", bad)
		}
	}
}

// opened is a value of one schema, as a type of another one opens it.
func opened(t *testing.T, reader, writer, value string) string {
	t.Helper()
	wrote := typeOf(t, writer, "")
	packed, err := wrote.Pack([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	is := typeOf(t, reader, "")
	as, err := is.Written([]string{writer})
	if err != nil {
		t.Fatal(err)
	}
	got, err := is.Open(nil, packed, as)
	if err != nil {
		return err.Error()
	}
	return string(got)
}

// Values of other schemas are read by their members: each keeps what it meant when it was written.
func TestValuesOfOtherSchemas(t *testing.T) {
	record := func(fields string) string { return `{"type":"record","name":"A","fields":[` + fields + `]}` }
	logical := func(typ, name string) string {
		return `{"name":"x","type":{"type":"` + typ + `","logicalType":"` + name + `"}}`
	}
	amount := func(scale string) string {
		return record(`{"name":"x","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":` + scale + `}}`)
	}
	const colours = `{"name":"x","type":{"type":"enum","name":"E","symbols":["RED","BLUE"]}}`
	union := func(names ...string) string {
		all := ""
		for _, n := range names {
			all += `,{"type":"record","name":"` + n + `","fields":[{"name":"n","type":"int"}]}`
		}
		return "[" + all[1:] + "]"
	}
	for name, tc := range map[string]struct{ reader, writer, value, want string }{
		"more and less":        {record(`{"name":"x","type":"long"},{"name":"y","type":"string","default":"-"},{"name":"z","type":["null","int"],"default":null}`), record(`{"name":"w","type":"int"},{"name":"x","type":"int"}`), `{"w":1,"x":7}`, `{"x":7,"y":"-"}`},
		"an alias":             {record(`{"name":"x","type":"long","aliases":["old"]}`), record(`{"name":"old","type":"long"}`), `{"old":7}`, `{"x":7}`},
		"a field that it asks": {record(`{"name":"x","type":"long"},{"name":"y","type":"string"}`), record(`{"name":"x","type":"long"}`), `{"x":7}`, `{"x":7}`},
		"defaults":             {record(`{"name":"a","type":{"type":"array","items":"int"},"default":[1]},{"name":"r","type":{"type":"record","name":"R","fields":[{"name":"n","type":["int","null"],"default":3}]},"default":{"n":4}},{"name":"u","type":["string","int"],"default":"s"}`), record(`{"name":"q","type":"int"}`), `{"q":1}`, `{"a":[1],"r":{"n":4},"u":{"type":"string","string":"s"}}`},
		"millis and micros":    {record(logical("long", "timestamp-micros")), record(logical("long", "timestamp-millis")), `{"x":"2026-01-31T12:00:00.123Z"}`, `{"x":"2026-01-31T12:00:00.123Z"}`},
		"meaning came later":   {record(logical("long", "timestamp-millis")), record(`{"name":"x","type":"long"}`), `{"x":1500}`, `{"x":"1970-01-01T00:00:01.5Z"}`},
		"meaning is not asked": {record(`{"name":"x","type":"long"}`), record(logical("long", "timestamp-millis")), `{"x":"1970-01-01T00:00:01.5Z"}`, `{"x":1500}`},
		"before 1970":          {record(logical("long", "timestamp-millis")), record(logical("long", "timestamp-millis")), `{"x":"1969-12-31T23:59:59.5Z"}`, `{"x":"1969-12-31T23:59:59.5Z"}`},
		"scales":               {amount("3"), amount("2"), `{"x":30.00}`, `{"x":30.00}`},
		"a text for a decimal": {amount("2"), record(`{"name":"x","type":"string"}`), `{"x":"30.00"}`, `{"x":"30.00"}`},
		"another type":         {record(`{"name":"x","type":"string"}`), record(`{"name":"x","type":"int"}`), `{"x":7}`, `{"x":7}`},
		"bytes and text":       {record(`{"name":"x","type":"string"}`), record(`{"name":"x","type":"bytes"}`), `{"x":"aGk="}`, `{"x":"hi"}`},
		"text and bytes":       {record(`{"name":"x","type":"bytes"}`), record(`{"name":"x","type":"string"}`), `{"x":"hi"}`, `{"x":"aGk="}`},
		"a symbol":             {record(`{"name":"x","type":{"type":"enum","name":"E","symbols":["RED"]}}`), record(colours), `{"x":"BLUE"}`, `{"x":"BLUE"}`},
		"a symbol's default":   {record(`{"name":"x","type":{"type":"enum","name":"E","symbols":["RED"],"default":"RED"}}`), record(colours), `{"x":"BLUE"}`, `{"x":"RED"}`},
		"null came later":      {record(`{"name":"x","type":["null","int"]}`), record(`{"name":"x","type":"int"}`), `{"x":7}`, `{"x":7}`},
		"null went":            {record(`{"name":"x","type":"int"}`), record(`{"name":"x","type":["null","int"]}`), `{"x":7}`, `{"x":7}`},
		"a union came later":   {record(`{"name":"x","type":["string","long"]}`), record(`{"name":"x","type":"int"}`), `{"x":7}`, `{"x":{"type":"long","long":7}}`},
		"a union went":         {record(`{"name":"x","type":"long"}`), record(`{"name":"x","type":["string","long"]}`), `{"x":{"type":"long","long":7}}`, `{"x":7}`},
		"one of the records":   {union("A", "B"), `{"type":"record","name":"B","namespace":"other","fields":[{"name":"n","type":"int"}]}`, `{"n":7}`, `{"type":"B","B":{"n":7}}`},
		"none of the records":  {union("A", "B"), union("C", "A"), `{"type":"C","C":{"n":7}}`, `{"type":"C","C":{"n":7}}`},
		"a record more":        {union("A", "B"), union("C", "A"), `{"type":"A","A":{"n":7}}`, `{"type":"A","A":{"n":7}}`},
		"another record":       {record(`{"name":"n","type":"int"}`), `{"type":"record","name":"other.C","fields":[{"name":"n","type":"int"}]}`, `{"n":7}`, "it is of type other.C, not A"},
		"a record's alias":     {`{"type":"record","name":"A","aliases":["C"],"fields":[{"name":"n","type":"int"}]}`, `{"type":"record","name":"other.C","fields":[{"name":"n","type":"int"}]}`, `{"n":7}`, `{"n":7}`},
	} {
		if got := opened(t, tc.reader, tc.writer, tc.value); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

// A schema may refer to others. One that is not a schema of Avro is refused, and so are values
// that are no records.
func TestSchemasThatWereWrittenWith(t *testing.T) {
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"x","type":"long"}]}`, "")
	as, err := is.Written([]string{`{"type":"record","name":"In","namespace":"other","fields":[{"name":"q","type":"int"}]}`,
		`{"type":"record","name":"A","namespace":"other","fields":[{"name":"in","type":"In"},{"name":"x","type":"int"}]}`})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := is.Open(nil, []byte{2, 14}, as); err != nil || string(got) != `{"x":7}` {
		t.Errorf("%s, %v", got, err)
	}
	if as, err = is.Written([]string{`"string"`}); err == nil {
		_, err = is.Open(nil, []byte{2, 'a'}, as)
	}
	if err == nil || err.Error() != "it is of type string, not A" {
		t.Errorf("a text: %v", err)
	}
	for text, schema := range map[string]string{"In": `{"type":"record","name":"A","fields":[{"name":"in","type":"In"}]}`, "object": `{"type":"object"}`} {
		if _, err := is.Written([]string{schema}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	one, other := typeOf(t, order, ""), typeOf(t, strings.Replace(order, `"scale":2`, `"scale":3`, 1), "")
	if one.Layout() == other.Layout() {
		t.Error("another scale has the same layout")
	}
}

// A schema is a record, a union of them or a single value, and one name in it stands alone.
func TestSchemas(t *testing.T) {
	if is := typeOf(t, order, "shop.v1.Line"); is.Number == typeOf(t, order, "").Number {
		t.Error("two schemas have one number")
	} else if value, err := is.Pack([]byte(`{"sku":"s"}`)); err != nil || string(value) != "\x02s\x00" {
		t.Errorf("%q, %v", value, err)
	}
	for name, schema := range map[string]string{
		"None": order, "": `{"type":"array","items":"string"}`, "x": "{",
	} {
		if _, err := avromsg.New(schema, name); err == nil {
			t.Errorf("%q of %.10s is a type", name, schema)
		} else if name == "None" && err.Error() != "it has no type None, or several" {
			t.Error(err)
		}
	}
	for schema, value := range map[string]string{`"string"`: `"a"`, `"long"`: "-7", `{"type":"string","logicalType":"uuid"}`: `"01234567-89ab-cdef-0123-456789abcdef"`, order: `"WEB"`} {
		name := map[bool]string{true: "Channel"}[schema == order]
		is := typeOf(t, schema, name)
		packed, err := is.Pack([]byte(value))
		if opened, unread := is.Open(nil, packed, is.Own()); err != nil || unread != nil || string(opened) != value {
			t.Errorf("%.20s: %s, %v, %v, want %s", schema, opened, err, unread, value)
		}
		record := typeOf(t, order, "shop.v1.Line").Own()
		if _, err := is.Open(nil, []byte("\x02s\x00"), record); err == nil {
			t.Errorf("%.20s: a record is read as a single value", schema)
		}
	}
	for _, union := range []string{`["null",{"type":"record","name":"A","fields":[]}]`, `[{"type":"record","name":"A","fields":[]}]`} {
		if _, err := avromsg.New(union, ""); err == nil {
			t.Errorf("%s is a type", union)
		}
	}
	for schema, want := range map[string]string{`"string"`: "[]", order: "[shop.v1.Order]", `[{"type":"record","name":"x.A","fields":[]},{"type":"record","name":"B","fields":[]}]`: "[x.A B]"} {
		if got := fmt.Sprint(typeOf(t, schema, "").Records()); got != want {
			t.Errorf("records of %.40s: %s, want %s", schema, got, want)
		}
	}
	for schema, want := range map[string]bool{`"null"`: true, `["null","int"]`: true, `["int","null"]`: true, `["int","string"]`: false, `"int"`: false, `{"type":"array","items":"null"}`: false} {
		parsed, err := avro.Parse(schema)
		if err != nil {
			t.Fatal(err)
		}
		if avromsg.Nullable(parsed.Root()) != want {
			t.Errorf("null is a value of %s: %v", schema, !want)
		}
	}
}

// A name is that of its namespace, and a value may not be as deep as it is long.
func TestNames(t *testing.T) {
	is := typeOf(t, `{"type":"record","name":"a.R","fields":[
		{"name":"x","type":{"type":"record","name":"b.In","fields":[{"name":"p","type":"int"}]}},
		{"name":"y","type":{"type":"record","name":"a.In","fields":[{"name":"q","type":"string"}]}},
		{"name":"z","type":"In"},
		{"name":"next","type":["null","R"]}]}`, "")
	value, err := is.Pack([]byte(`{"x":{"p":1},"y":{"q":"y"},"z":{"q":"z"}}`))
	if got, err2 := is.Open(nil, value, is.Own()); err != nil || err2 != nil || string(got) != `{"x":{"p":1},"y":{"q":"y"},"z":{"q":"z"}}` {
		t.Errorf("%s, %v, %v", got, err, err2)
	}
	nested := typeOf(t, `{"type":"record","name":"R","fields":[
		{"name":"m","type":{"type":"map","values":{"type":"record","name":"In","fields":[{"name":"p","type":"int"}]}}},
		{"name":"l","type":{"type":"array","items":{"type":"enum","name":"E","symbols":["P"]}}},{"name":"z","type":"In"},{"name":"e","type":"E"},{"name":"u","type":["int","string"]}]}`, "")
	const named = `{"m":{"k":{"p":1}},"l":["P"],"z":{"p":2},"e":"P","u":{"type":"string","string":"x"}}`
	value, err = nested.Pack([]byte(named))
	if got, err2 := nested.Open(nil, value, nested.Own()); err != nil || err2 != nil || string(got) != named {
		t.Errorf("names within maps and lists: %s, %v, %v", got, err, err2)
	}
	value, err = nested.Pack([]byte(`{}`))
	if got, err2 := nested.Open(nil, value, nested.Own()); err != nil || err2 != nil || string(got) != `{"m":{},"l":[],"z":{"p":0},"e":"P","u":{"type":"int","int":0}}` {
		t.Errorf("nothing within maps and lists: %s, %v, %v", got, err, err2)
	}
	if _, err := nested.Open(nil, []byte("\x00\x00\x00\x00\x08"), nested.Own()); err == nil || err.Error() != "it is not a valid R, at u" {
		t.Errorf("a union without such a type: %v", err)
	}
	value, err = is.Pack([]byte(`{}`))
	if got, err2 := is.Open(nil, value, is.Own()); err != nil || err2 != nil || string(got) != `{"x":{"p":0},"y":{"q":""},"z":{"q":""}}` {
		t.Errorf("with as little as there can be: %s, %v, %v", got, err, err2)
	}
	if _, err := is.Open(nil, bytes.Repeat([]byte{2, 0, 0, 2}, 1<<18), is.Own()); err == nil {
		t.Error("a value of 1 MiB that nests as deep as it can is opened")
	}
	if _, err := avromsg.New(`["a.X",{"type":"record","name":"b.X","fields":[]}]`, ""); err == nil {
		t.Error("a name that is not there")
	}
}

// Frames are those of Confluent's serializers.
func TestFrames(t *testing.T) {
	is := typeOf(t, order, "Line")
	is.Number = 0x01020304
	value, err := avromsg.Sample{Of: is, Framed: true}.Pack([]byte(`{"sku":"s"}`))
	if err != nil || string(value) != "\x00\x01\x02\x03\x04\x02s\x00" {
		t.Fatalf("%q, %v", value, err)
	}
	if s, rest, err := frame.Split(value); err != nil || s.Number != 0x01020304 || string(rest) != "\x02s\x00" {
		t.Errorf("%v, %q, %v", s, rest, err)
	}
}
