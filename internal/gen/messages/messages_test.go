package messages_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/messages"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

var spec = `version: 1
consumer: c
package: p
types:
  Colour: {enum: [COLOUR_NONE, COLOUR_RED]}
topics:
  t:
    payload: {encoding: protobuf, schema: a.proto#a.Event}
    event_type: {path: what}
    idempotency_key: {source: {header: id}, window: 1d}
    events:
      Made: {type: made, root: made, handle: true}
      Gone: {type: gone, root: gone, fields: {why: string}, handle: true}
`

const file = `syntax = "proto3";
package a;
import "google/protobuf/timestamp.proto";
message Event { oneof what { Made made = 1; Gone gone = 2; } }
message Made {
  string id = 1;
  optional int32 n = 2;
  int64 big = 3;
  uint64 huge = 4;
  float share = 5;
  bool yes = 6;
  bytes raw = 7;
  Colour colour = 8;
  Size size = 9;
  google.protobuf.Timestamp at = 10;
  repeated Line orderLines = 11;
  map<string, double> weights = 12;
  Made parent = 13;
}
message Line { string sku = 1; Size size = 2; }
message Gone { string why = 1; }
enum Colour { COLOUR_NONE = 0; COLOUR_RED = 1; }
enum Size { SIZE_NONE = 0; SIZE_XL = 1; }
`

// read reads the spec above, with a file.
func read(t *testing.T, text string) (*model.Service, syntax.Diagnostics) {
	t.Helper()
	parsed, problems := syntax.Load("idemgen.yaml", []byte(spec))
	all, unread := messages.Read(parsed, func(path string) ([]byte, error) {
		if path != "a.proto" && path != "a.avsc" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	})
	problems.Append(unread)
	s, more := resolve.Resolve(parsed)
	if problems.Append(more); problems.Errors() == 0 {
		problems.Append(all.Attach(s))
	}
	return s, problems
}

// An event without fields has those of its message, in types that a spec could declare.
func TestFieldsAreThoseOfTheMessage(t *testing.T) {
	s, problems := read(t, file)
	if problems.Errors() > 0 {
		t.Fatal(problems.Sorted())
	}
	made := s.Topics[0].Events[0]
	var got []string
	for _, f := range made.Fields {
		got = append(got, f.Name+" "+strings.Join(f.Source.Path, ".")+" "+text(f.Type))
	}
	want := []string{
		"id made.id string", "n made.n optional int32", "big made.big int64", "huge made.huge decimal", "share made.share float64", "yes made.yes bool",
		"raw made.raw bytes", "colour made.colour Colour", "size made.size Size", "at made.at optional timestamp", "order_lines made.orderLines list(Line)",
		"weights made.weights map(float64)", "parent made.parent optional json",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	m := s.Topics[0].Payload.Messages
	value, err := m.Packing.Pack([]byte(`{"made":{"id":"a","orderLines":[{"sku":"s"}]}}`))
	if opened, err2 := m.Packing.Open(nil, value); errors.Join(err, err2) != nil || !strings.HasPrefix(string(opened), `{"what":"made","made":{"id":"a","big":0,`) {
		t.Errorf("%s, %v, %v", opened, err, err2)
	}
}

const avroFile = `[
	{"type":"record","name":"Made","namespace":"a","fields":[
		{"name":"id","type":{"type":"string","logicalType":"uuid"}},
		{"name":"n","type":["null","int"]},
		{"name":"total","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
		{"name":"day","type":{"type":"int","logicalType":"date"}},
		{"name":"at","type":["null",{"type":"long","logicalType":"timestamp-millis"}]},
		{"name":"here","type":{"type":"long","logicalType":"local-timestamp-micros"}},
		{"name":"colour","type":{"type":"enum","name":"Colour","symbols":["COLOUR_NONE","COLOUR_RED"]}},
		{"name":"size","type":{"type":"enum","name":"Size","symbols":["XL"]}},
		{"name":"orderLines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[{"name":"sku","type":"string"},{"name":"size","type":"Size"}]}}},
		{"name":"weights","type":{"type":"map","values":"double"}},
		{"name":"parent","type":["null","Made"]},
		{"name":"by","type":[{"type":"record","name":"Card","fields":[]},"string"]},
		{"name":"raw","type":{"type":"fixed","name":"Raw","size":3}},
		{"name":"via","type":["int","string"]},
		{"name":"other","type":{"type":"record","name":"b.Line","fields":[{"name":"z","type":"int"}]}},
		{"name":"again","type":["Card","string"]},
		{"name":"gaps","type":{"type":"array","items":["null","string"]}}
	]},
	{"type":"record","name":"Gone","fields":[{"name":"why","type":"string"}]}
]`

// The same holds for records of Avro, and a change of the schema of values without a frame is told
// by their layout.
func TestFieldsAreThoseOfTheRecord(t *testing.T) {
	was := spec
	defer func() { spec = was }()
	spec = strings.NewReplacer("protobuf, schema: a.proto#a.Event", "avro, schema: a.avsc", "path: what", "path: type", "type: made, root: made", "type: Made, root: Made",
		"type: gone, root: gone", "type: Gone, root: Gone").Replace(spec)
	s, problems := read(t, avroFile)
	if problems.Errors() > 0 {
		t.Fatal(problems.Sorted())
	}
	var got []string
	for _, f := range s.Topics[0].Events[0].Fields {
		got = append(got, f.Name+" "+strings.Join(f.Source.Path, ".")+" "+text(f.Type))
	}
	want := []string{
		"id Made.id uuid", "n Made.n optional int32", "total Made.total decimal", "day Made.day date", "at Made.at optional timestamp", "here Made.here local_timestamp",
		"colour Made.colour Colour", "size Made.size Size", "order_lines Made.orderLines list(Line)", "weights Made.weights map(float64)", "parent Made.parent optional json",
		"by Made.by Union", "raw Made.raw bytes", "via Made.via Union2", "other Made.other Line2", "again Made.again Union", "gaps Made.gaps json",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	m := s.Topics[0].Payload.Messages
	value, err := m.Packing.Pack([]byte(`{"type":"Gone","Gone":{"why":"x"}}`))
	if opened, err2 := m.Packing.Open(nil, value); errors.Join(err, err2) != nil || string(opened) != `{"type":"Gone","Gone":{"why":"x"}}` {
		t.Errorf("%s, %v, %v", opened, err, err2)
	}
	other, _ := read(t, strings.Replace(avroFile, `"why","type":"string"`, `"why","type":"string","doc":"new"`, 1))
	longer, _ := read(t, strings.Replace(avroFile, `"why","type":"string"`, `"why","type":["string","null"]`, 1))
	if l := other.Topics[0].Payload.Messages.Layout; m.Layout[""] == "" || l[""] != m.Layout[""] || longer.Topics[0].Payload.Messages.Layout[""] == l[""] {
		t.Errorf("layouts %s, %s", m.Layout, l)
	}
	_, problems = read(t, strings.Replace(avroFile, `"why","type":"string"`, `"why","type":"long"`, 1))
	if all := problems.Sorted(); len(all) != 1 || all[0].Code != "E118" || all[0].Pos.Line != 13 {
		t.Errorf("%+v", all)
	}
	_, problems = read(t, strings.Replace(avroFile, `"type":"record","name":"Gone"`, `"type":"record","name":"Gone","namespace":"b"`, 1)+" ")
	if problems.Errors() > 0 {
		t.Error(problems.Sorted())
	}
	_, problems = read(t, strings.Replace(avroFile, `"name":"Gone"`, `"name":"b.Made"`, 1))
	if !slices.ContainsFunc(problems.Sorted(), func(d syntax.Diagnostic) bool { return strings.Contains(d.Message, "a union has two types Made") }) {
		t.Errorf("%+v", problems.Sorted())
	}
}

// Where a message is in its file is part of what framed records say.
func TestPlaceOfAFramedMessage(t *testing.T) {
	was := spec
	defer func() { spec = was }()
	above := strings.Replace(file, "message Event", "message Other {}\nmessage Event", 1)
	for _, encoding := range []string{"protobuf", "confluent_protobuf"} {
		spec = strings.Replace(was, "encoding: protobuf", "encoding: "+encoding, 1)
		before, problems := read(t, file)
		after, more := read(t, above)
		if problems.Errors()+more.Errors() > 0 {
			t.Fatal(problems.Sorted(), more.Sorted())
		}
		first, second := before.Topics[0].Payload.Messages.Layout[""], after.Topics[0].Payload.Messages.Layout[""]
		if changed := first != second; changed != (encoding == "confluent_protobuf") {
			t.Errorf("%s: at %s, then at %s", encoding, first, second)
		}
	}
}

// Names of a schema become names as a spec has them: those of types are no words of Go, and none
// that the generated code declares.
func TestNamesOfASchema(t *testing.T) {
	was := spec
	defer func() { spec = was }()
	spec = strings.NewReplacer("types:\n  Colour: {enum: [COLOUR_NONE, COLOUR_RED]}\n", "", "protobuf, schema: a.proto#a.Event", "avro, schema: a.avsc", "    event_type: {path: what}\n", "",
		"type: made, root: made, ", "", "      Gone: {type: gone, root: gone, fields: {why: string}, handle: true}\n", "").Replace(spec)
	var fields []string
	for i, name := range []string{"error", "range", "order_line", "ORDER_ID", "Option", "_1", "Made", "SKU", "HTTPRequest"} {
		of := `{"type":"record","name":"` + name + `","fields":[{"name":"a","type":"int"}]}`
		if i == 1 {
			of = `{"type":"enum","name":"range","symbols":["near"]}`
		}
		fields = append(fields, `{"name":"`+name+`","type":`+of+`}`)
	}
	fields = append(fields, `{"name":"_","type":"int"}`, `{"name":"lineNo","type":"int"}`, `{"name":"_version","type":"int"}`)
	s, problems := read(t, `{"type":"record","name":"Event","fields":[`+strings.Join(fields, ",")+`]}`)
	if problems.Errors() > 0 {
		t.Fatal(problems.Sorted())
	}
	var got []string
	for _, f := range s.Topics[0].Events[0].Fields {
		got = append(got, f.Name+" "+f.Source.Path[0]+" "+text(f.Type))
	}
	want := []string{
		"error error Error", "range range Range", "order_line order_line OrderLine", "order_id ORDER_ID OrderId", "option Option OptionMessage", "field_1 _1 Message1",
		"made Made MadeMessage", "sku SKU SKU", "httprequest HTTPRequest HTTPRequest", "field _ int32", "line_no lineNo int32", "version _version int32",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func text(t model.FieldType) string {
	name := map[model.Kind]string{
		model.String: "string", model.Int32: "int32", model.Int64: "int64", model.Decimal: "decimal", model.Float64: "float64", model.Bool: "bool",
		model.Bytes: "bytes", model.Timestamp: "timestamp", model.JSON: "json", model.UUID: "uuid", model.Date: "date", model.LocalTimestamp: "local_timestamp",
	}[t.Kind]
	switch {
	case t.Named != nil:
		name = t.Named.Name
	case t.Kind == model.List:
		name = "list(" + text(*t.Elem) + ")"
	case t.Kind == model.Map:
		name = "map(" + text(*t.Elem) + ")"
	}
	if t.Optional {
		return "optional " + name
	}
	return name
}

// The same files give the same bytes, and a change of a field that an event reads is told.
func TestSchemaIsHeldAgainstTheFields(t *testing.T) {
	one, _ := read(t, file)
	two, _ := read(t, file)
	if string(one.Topics[0].Payload.Messages.Schema) != string(two.Topics[0].Payload.Messages.Schema) {
		t.Error("two readings differ")
	}
	_, problems := read(t, strings.Replace(file, "string why", "bytes why", 1))
	if all := problems.Sorted(); len(all) != 1 || all[0].Code != "E118" || all[0].Pos.Line != 13 {
		t.Errorf("%+v", all)
	}
}

// A boolean tells no events apart, nor does a number: their records would all be dead letters.
func TestEventsAreToldByTexts(t *testing.T) {
	was := spec
	defer func() { spec = was }()
	for path, says := range map[string]string{"made.yes": "bool", "made.big": "int64", "made.at": "", "made.id": "", "made.raw": "bytes"} {
		spec = strings.Replace(was, "path: what", "path: "+path, 1)
		_, problems := read(t, file)
		all := problems.Sorted()
		if says == "" && len(all) > 0 || says != "" && (len(all) != 1 || all[0].Code != "E118" || !strings.Contains(all[0].Message, path+" is "+says+", but only a string or an enum can identify events")) {
			t.Errorf("%s: %+v", path, all)
		}
	}
}
