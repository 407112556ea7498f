package oracle

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func stringed(text string) []byte {
	out, _ := json.Marshal(text)
	return out
}

// What is packed is read as if it had been sent plainly, a record without a value is a tombstone
// all the same, and what cannot be unpacked is a dead letter whatever its type.
func TestPackedValues(t *testing.T) {
	pack := stringed
	n := &model.Field{Name: "n", Type: typ(model.Int32), Source: model.Source{Kind: model.FromPayload, Path: []string{"n"}}}
	a, b, gone := newEvent("A", []*model.Field{n}), newEvent("B", nil), newEvent("Gone", nil)
	gone.Tombstone, gone.Types = true, nil
	s := service(nil, a, b, gone)
	s.Limits.MaxPayload = 100
	s.Topics[0].Payload.Encoding = "json_string"
	s.Topics[0].EventType = []model.Discriminator{{Path: []string{"kind"}}}
	in := newFeed(t, s)
	send := func(value []byte, want string) {
		t.Helper()
		in.apply(Record{Topic: "t", Value: value}, want)
	}
	send(pack(`{"kind":"A","n":1}`), "applied")
	send(pack(`{"kind":"A","n":"x"}`), "dead letter decode n")
	send(pack(`{"kind":"B"}`), "applied")
	send(pack(`{"kind":"C"}`), "dead letter unknown_type")
	send(nil, "applied")
	for _, bad := range [][]byte{
		{}, []byte(`{"kind":"B"}`), pack(`{"kind":"B"}`)[1:], pack(""), append(pack(`{"kind":"B"}`), 'x'),
		append(pack(`{"kind":"B"}`), pack(`{"kind":"B"}`)...), bytes.TrimSuffix(pack(`{"kind":"B"}`), pack(`{"kind":"B"}`)[len(pack(`{"kind":"B"}`))-1:]),
	} {
		send(bad, "dead letter decode")
	}
	send(bytes.Repeat([]byte{'x'}, 101), "dead letter too_large")
}

// JSON behind the number of a schema is read as if it had been sent plainly.
func TestFramedValues(t *testing.T) {
	n := &model.Field{Name: "n", Type: typ(model.Int32), Source: model.Source{Kind: model.FromPayload, Path: []string{"n"}}}
	a := newEvent("A", []*model.Field{n})
	s := service(nil, a)
	s.Topics[0].Payload.Encoding = "confluent_json"
	in := newFeed(t, s)
	for value, want := range map[string]string{
		"\x00\x00\x01\x86\xa1" + `{"n":1}`:  "applied",
		"\x00\x00\x00\x00\x01" + `{"n":""}`: "dead letter decode n",
		"\x00\x00\x00\x00\x01":              "dead letter decode",
		"\x00\x00\x00\x01":                  "dead letter decode",
		"\x01\x00\x00\x00\x01" + `{"n":1}`:  "dead letter decode",
		`{"n":1}`:                           "dead letter decode",
		"":                                  "dead letter decode",
	} {
		in.apply(Record{Topic: "t", Value: []byte(value)}, want)
	}
}
