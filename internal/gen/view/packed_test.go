package view

import (
	"os"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Values in Avro and Protobuf are shown as JSON, by the names of their schemas.
func TestPackedValuesAreShownAsJSON(t *testing.T) {
	for _, name := range []string{"avro_orders", "protobuf_orders"} {
		s, err := Read(os.DirFS("../../../testdata/golden/accepted/" + name))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, topic := range s.service.Topics {
			m := topic.Payload.Messages
			if m == nil || m.Framed {
				continue
			}
			n++
			value, err := m.Packing.Pack([]byte(samples[name]))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			shown := s.Show(topic.Name, "", &wire.Message{Value: value})
			if !strings.Contains(shown.Payload, `"0f8fad5b-d9cb-469f-a165-70867728950e"`) || !strings.Contains(shown.Payload, `"sku": "S-7"`) || shown.Hidden != "" {
				t.Errorf("%s: %+v", name, shown)
			}
			broken := s.Show(topic.Name, "", &wire.Message{Value: value[:len(value)-1]})
			if !strings.Contains(broken.Hidden, "cannot be decoded") {
				t.Errorf("%s, cut off: %+v", name, broken)
			}
		}
		if n == 0 {
			t.Errorf("%s has no topic with messages", name)
		}
	}
}

// JSON behind the number of a schema is shown without it.
func TestFramedJSONIsShownWithoutItsPrefix(t *testing.T) {
	s, err := Read(os.DirFS("../../../testdata/golden/accepted/encoded_payloads"))
	if err != nil {
		t.Fatal(err)
	}
	shown := s.Show("visits.v1", "", &wire.Message{Value: []byte("\x00\x00\x01\x86\xa1" + `{"page":"/cart"}`)})
	if !strings.Contains(shown.Payload, `"page": "/cart"`) || shown.Hidden != "" {
		t.Errorf("%+v", shown)
	}
	headers := []wire.Header{{Name: "__value_schema_id", Value: []byte("\x01ABCDEFGHabcdefgh")}}
	if named := s.Show("visits.v1", "", &wire.Message{Value: []byte(`{"page":"/cart"}`), Headers: headers}); !strings.Contains(named.Payload, `"page": "/cart"`) || named.Hidden != "" {
		t.Errorf("with a header: %+v", named)
	}
	headers[0].Value = append(headers[0].Value, 7) // a place, which only Protobuf has
	if long := s.Show("visits.v1", "", &wire.Message{Value: []byte(`{"page":"/cart"}`), Headers: headers}); !strings.Contains(long.Hidden, "cannot be decoded") {
		t.Errorf("with a header that names more: %+v", long)
	}
	if bare := s.Show("visits.v1", "", &wire.Message{Value: []byte(`{"page":"/cart"}`)}); !strings.Contains(bare.Hidden, "cannot be decoded") {
		t.Errorf("without the prefix: %+v", bare)
	}
}

// samples are what the values of the topics of stock hold.
var samples = map[string]string{
	"avro_orders":     `{"moveId": "0f8fad5b-d9cb-469f-a165-70867728950e", "sku": "S-7", "pieces": 12, "day": "2026-01-02", "weight": 1.5, "reason": null, "labels": {}, "raw": ""}`,
	"protobuf_orders": `{"move_id": "0f8fad5b-d9cb-469f-a165-70867728950e", "sku": "S-7", "pieces": "12", "labels": {}}`,
}
