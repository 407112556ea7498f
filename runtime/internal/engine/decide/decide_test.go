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
