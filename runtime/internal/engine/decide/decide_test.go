package decide

import (
	"log/slog"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/wire"
)

// opened is a plan for which each record is an event Opened.
type opened struct{}

func (opened) Flush(*wire.Batch) {}

func (opened) Add(b *wire.Batch, _ *wire.Message) error {
	_, err := b.Claim("Opened", wire.Key{}, 0, 0, false)
	return err
}

// An error of one record names its event, never that of a record before it.
func TestEventIsThatOfTheLastRecord(t *testing.T) {
	topic := &wire.Topic{NewPlan: func() wire.Plan { return opened{} }}
	log := slog.New(slog.DiscardHandler)
	s := &wire.Service{Limits: wire.Limits{MaxPayload: 3}}
	d := New(s, topic, catalog.NewCurrent(s, log))
	refused := map[int64]deadletter.Letter{3: {Event: "Closed", Policy: &topic.OnFailure}, 4: {Policy: &topic.OnFailure}}
	known := keys.New(&keys.Process{}, idemtype.Partition{}, topic, nil).Known(keys.Place{})
	for offset, c := range []struct{ value, event string }{
		{"abc", "Opened"}, {"too large", ""}, {"abc", "Opened"}, {"abc", "Closed"}, {"abc", ""},
	} {
		record := []wire.Message{{Offset: int64(offset), Value: []byte(c.value)}}
		if _, err := d.Decide(record, Facts{Known: known, Refused: refused}); err != nil || d.Event() != c.event {
			t.Errorf("offset %d: the event is %q, %v, want %q", offset, d.Event(), err, c.event)
		}
	}
}

// Only statements are sent in one round trip: what runs any other stage knows all stages.
func TestOnlyStatementsArePlain(t *testing.T) {
	for stage, plain := range map[wire.Stage]bool{wire.Statement: true, wire.GoCall: false, wire.GoCall + 1: false} {
		d := Decision{Steps: []wire.Step{{Stage: wire.Statement}, {Stage: stage}}}
		if d.Plain() != plain {
			t.Errorf("stage %d: plain is %t", stage, d.Plain())
		}
	}
}

// ofEvent is a plan whose event has an on_failure of its own.
type ofEvent struct {
	wire.Event[struct{}, decoder]
}

type decoder struct{}

func (decoder) Borrow(*wire.Message) {}
func (decoder) Reset(*wire.Message)  {}
func (decoder) Finish(string) error  { return &wire.DecodeError{Event: "Opened", Reason: "no"} }

func (*ofEvent) Flush(*wire.Batch) {}

func (p *ofEvent) Add(b *wire.Batch, m *wire.Message) error {
	_, err := p.Take(b, m, decoder{}, &struct{}{})
	return err
}

// A record has the on_failure of its event. Where the event is not known it has the topic's.
func TestPolicyIsTheEventsIfItIsKnown(t *testing.T) {
	own := &wire.FailurePolicy{StopAfter: 5}
	topic := &wire.Topic{OnFailure: wire.FailurePolicy{StopAfter: 6}, NewPlan: func() wire.Plan {
		return &ofEvent{wire.Event[struct{}, decoder]{Name: "Opened", OnFailure: own, Decode: func(*struct{}, decoder, *wire.Message) {}}}
	}}
	d, f := decider(topic)
	small, large := records("small"), records("more than twelve bytes")
	if got := d.Policy(&small[0]); got != &topic.OnFailure {
		t.Errorf("before the first record: %+v", got)
	}
	for _, c := range []struct {
		records []wire.Message
		want    *wire.FailurePolicy
	}{
		{small, own}, {large, &topic.OnFailure},
	} {
		decision, err := d.Decide(c.records, f)
		if err != nil || len(decision.Letters) != 1 || decision.Letters[0].Policy != c.want || d.Policy(&c.records[0]) != c.want {
			t.Errorf("%s: %+v, %v, policy %+v, want %+v", c.records[0].Value, decision.Letters, err, d.Policy(&c.records[0]), c.want)
		}
	}
	if d.Discard(); d.Event() != "" || d.Policy(&small[0]) != &topic.OnFailure {
		t.Errorf("discarded: event %q, policy %+v", d.Event(), d.Policy(&small[0]))
	}
}
