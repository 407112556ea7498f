package oracle

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
)

// Both modes are read as one, and what is no CloudEvent is refused where it says so.
func TestCloudEventsOfBothModes(t *testing.T) {
	n := &model.Field{Name: "n", Type: typ(model.Int32), Source: model.Source{Kind: model.FromPayload, Path: []string{"n"}}}
	at := &model.Field{Name: "at", Type: opt(model.Timestamp), Source: model.Source{Kind: model.FromHeader, Header: "ce_time"}}
	a, b, gone := newEvent("A", []*model.Field{n, at}), newEvent("B", nil), newEvent("Gone", nil)
	gone.Tombstone, gone.Types = true, nil
	s := service(nil, a, b, gone)
	s.Topics[0].CloudEvents = true
	s.Topics[0].EventType = &model.Discriminator{Header: "ce_type"}
	s.Topics[0].Ignore = []string{"C"}
	in := newFeed(t, s)
	send := func(value, want string, headers ...string) {
		t.Helper()
		r := Record{Topic: "t", Value: []byte(value)}
		if value == "" {
			r.Value = nil
		}
		for _, h := range headers {
			name, text, _ := strings.Cut(h, "=")
			r.Headers = append(r.Headers, Header{name, []byte(text)})
		}
		in.apply(r, want)
	}
	const (
		structured = "content-type=application/cloudevents+json"
		head       = `{"specversion":"1.0","id":"1","source":"/s","type":"A"`
	)
	binary := func(with ...string) []string {
		return append([]string{"ce_specversion=1.0", "ce_id=1", "ce_source=/s"}, with...)
	}
	send(`{"n":1}`, "applied", binary("ce_type=A")...)
	send(`{"n":1}`, "applied", binary("ce_type=A", "content-type=application/json", "ce_time=2026-01-01T00:00:00Z")...)
	send(`broken`, "ignored", binary("ce_type=C")...)
	send(`{}`, "dead letter unknown_type", binary("ce_type=D")...)
	send(`{}`, "dead letter decode n", binary("ce_type=A")...)
	send(`{"n":1}`, "dead letter decode header ce_time", binary("ce_type=A", "ce_time=now")...)
	send(`{"n":1}`, "dead letter decode header ce_type", binary()...)
	send(`{"n":1}`, "dead letter decode header ce_type", binary("ce_type=")...)
	send(`{"n":1}`, "dead letter decode header ce_specversion", "ce_specversion=0.3", "ce_id=1", "ce_source=/s", "ce_type=A")
	send(`{"n":1}`, "dead letter decode header ce_specversion")
	send("", "applied")

	send(head+`,"data":{"n":1}}`, "applied", structured)
	send(head+`,"data_base64":"eyJuIjoxfQ=="}`, "applied", structured)
	send(head+`,"data":{"n":1},"time":"2026-01-01T00:00:00Z","x":null,"y":1}`, "applied", "content-type=Application/CloudEvents; charset=x", "ce_id=2")
	send(head+`,"data":{}}`, "dead letter decode n", structured)
	send(head+`}`, "dead letter decode", structured)
	send(head+`,"data":{"n":1}`, "dead letter decode", structured)
	send(head+`,"data":{"n":1},"x":[]}`, "dead letter decode", structured)
	send(head+`,"data":{"n":1},"data":{"n":1}}`, "dead letter decode", structured)
	send(head+`,"data_base64":"?"}`, "dead letter decode", structured)
	send(head+`,"data":{"n":1},"id":"1"}`, "dead letter decode header ce_id", structured)
	send(head+`,"data":{"n":1},"time":"\u0000"}`, "dead letter decode header ce_time", structured)
	send(`[]`, "dead letter decode", structured)
	send(`[]`, "dead letter decode header content-type", "content-type=application/cloudevents-batch+json")
	send(head+`,"data":{"n":1}}`, "dead letter decode header content-type", structured, structured)
}
