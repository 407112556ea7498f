package strictjson_test

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/avromsg"
	"github.com/idemgen/idemgen/internal/gen/protofile"
	"github.com/idemgen/idemgen/internal/protomsg"
	"github.com/idemgen/idemgen/runtime/avro"
	"github.com/idemgen/idemgen/runtime/framedjson"
	"github.com/idemgen/idemgen/runtime/protobuf"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/strictjson"
)

// encoding is a payload encoding: how a value is packed, and how it is opened.
type encoding struct {
	pack func(object []byte) ([]byte, error)
	open func(*wire.Message) (*wire.Message, error)
}

func encodings(t *testing.T) map[string]encoding {
	t.Helper()
	const proto = `syntax = "proto3"; package shop; message Order { string id = 1; repeated Line lines = 2; optional string total = 3; } message Line { string sku = 1; string price = 2; }`
	const avsc = `{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"},
{"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}, {"name": "price", "type": "string"}]}}},
{"name": "total", "type": ["null", "string"], "default": null}]}`
	set, err := protofile.Compile(func(path string) ([]byte, error) {
		if path != "order.proto" {
			return nil, errors.New("no such file")
		}
		return []byte(proto), nil
	}, "order.proto")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]encoding{"json_string": {
		func(object []byte) ([]byte, error) { return strconv.AppendQuote(nil, string(object)), nil }, new(strictjson.Quoted).Open,
	}}
	all["confluent_json"] = encoding{
		func(object []byte) ([]byte, error) { return append([]byte("\x00\x00\x00\x00\x07"), object...), nil }, framedjson.Encoding{}.Open,
	}
	for name, framed := range map[string]bool{"protobuf": false, "confluent_protobuf": true} {
		is, err := protomsg.New(set, "shop.Order", framed)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = encoding{is.Pack, (&protobuf.Encoding{Message: protobuf.New(base64.StdEncoding.EncodeToString(set), "shop.Order", framed)}).Open}
	}
	is, err := avromsg.New(avsc, "")
	if err != nil {
		t.Fatal(err)
	}
	framed := avro.NewFramed(avsc, "")
	asked := framed.From(avro.Own(framed))
	all["avro"] = encoding{is.Pack, (&avro.Encoding{Message: avro.New(avsc, "")}).Open}
	all["confluent_avro"] = encoding{avromsg.Sample{Of: is, Framed: true}.Pack, func(m *wire.Message) (*wire.Message, error) {
		if _, err := asked.Prepare(t.Context(), []wire.Message{*m}); err != nil {
			return nil, err
		}
		return (&avro.Encoding{Message: asked}).Open(m)
	}}
	return all
}

// The reason of a dead letter names no byte of what a value was unpacked to: the dead letter keeps
// the value as it was sent, and nobody has the other bytes. It names the field.
func TestReasonsNameNoByteOfAnUnpackedValue(t *testing.T) {
	read := func(s *strictjson.Scanner) {
		for s.Object(); s.Member(); {
			switch s.Name() {
			case "lines":
				for s.Array(); s.Element(); {
					for s.Object(); s.Member(); {
						if s.Name() == "price" {
							s.Decimal()
						} else {
							s.Skip()
						}
					}
				}
			case "total":
				s.Decimal()
			default:
				s.Skip()
			}
		}
	}
	for name, e := range encodings(t) {
		for value, want := range map[string]string{
			`{"id":"o-1","lines":[{"sku":"a","price":"1"},{"sku":"b","price":"x"}]}`: "decode: Order: lines[1].price must be a decimal number",
			`{"id":"o-1","lines":[],"total":"x"}`:                                    "decode: Order: total must be a decimal number",
		} {
			packed, err := e.pack([]byte(value))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			opened, err := e.open(&wire.Message{Value: packed})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var s strictjson.Scanner
			for how, start := range map[string]func(*wire.Message){"borrowed": s.Borrow, "reset": s.Reset} {
				start(opened)
				read(&s)
				if err := s.Finish("Order"); err == nil || err.Error() != want {
					t.Errorf("%s, %s: %v, want %s", name, how, err, want)
				}
			}
			s.Borrow(&wire.Message{Value: []byte(value)}) // the next record, which is not packed
			read(&s)
			if err := s.Finish("Order"); err == nil || !strings.HasPrefix(err.Error(), want+" (at byte ") {
				t.Errorf("%s, then not packed: %v", name, err)
			}
		}
	}
}
