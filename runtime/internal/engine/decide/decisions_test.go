package decide

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// asked is a plan whose records say what they do: a verb, and the key and the content of an event.
type asked struct{ rows wire.Rows }

func (a *asked) Flush(b *wire.Batch) { b.Write("INSERT", &a.rows) }

func (a *asked) Add(b *wire.Batch, m *wire.Message) error {
	var verb string
	var key byte
	var print uint32
	if _, err := fmt.Sscanf(string(m.Value), "%s %c%d", &verb, &key, &print); err != nil {
		return &wire.DecodeError{Event: "Asked", Reason: "nonsense"}
	}
	if verb == "skip" {
		b.Ignore()
		return nil
	}
	if fresh, err := b.Claim("Asked", wire.Key{key}, 1, print, verb == "here"); !fresh {
		return err
	}
	switch verb {
	case "refuse":
		return &wire.DecodeError{Event: "Asked", Reason: "refused"}
	case "call":
		b.Call(m, wire.Call{Event: "Asked"})
		return nil
	case "effect":
		if ok, err := b.Effect(m, wire.Effect{Event: "Asked"}); !ok {
			return err
		}
	}
	a.rows.Row().Int4(int32(print))
	return nil
}

// records are those of a list, from offset 10 on. A text before a slash is the record key.
func records(list ...string) (all []wire.Message) {
	for i, text := range list {
		m := wire.Message{Offset: int64(10 + i), LeaderEpoch: int32(3 + i), Value: []byte(text)}
		if key, value, keyed := strings.Cut(text, "/"); keyed {
			m.Key, m.Value = []byte(key), []byte(value)
		}
		all = append(all, m)
	}
	return all
}

func inWords(d *Decision) string {
	var out []string
	tell := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	r := d.Result
	for _, c := range []struct {
		n    int64
		name string
	}{
		{r.Applied, "applied"}, {r.Duplicates, "duplicate"}, {r.Conflicts, "conflict"}, {r.Dead, "dead"}, {r.Waiting, "parked"}, {r.Ignored, "ignored"},
	} {
		if c.n > 0 {
			tell("%d %s", c.n, c.name)
		}
	}
	for _, l := range d.Letters {
		tell("letter %d %q %s", l.Message.Offset, l.Event, l.Reason)
		if l.Returned != nil {
			tell("with result %s", l.Returned)
		}
	}
	for _, m := range d.Moves {
		tell("dead %d waiting %d", m.Dead, m.Waiting)
	}
	for _, c := range d.Claims {
		tell("claim %c", c.Key[0])
	}
	if n := len(d.Keys.Keys); n > 0 {
		tell("%d bytes of keys in the row", n)
	}
	for _, k := range d.Hidden {
		tell("hidden %c", k[0])
	}
	for _, e := range d.Waiting {
		tell("effect of %d", e.Message.Offset)
	}
	if d.Ready >= 0 {
		tell("%d ready", d.Ready)
	}
	if n := len(d.Effects); n > 0 {
		tell("%d results", n)
	}
	if d.InRow != (ledger.InRow{}) {
		tell("%d in a row from %d", d.InRow.N, d.InRow.First)
	}
	for _, e := range d.Events {
		tell("event %d %s %v", e.Offset, e.Name, e.Outcome)
	}
	tell("%d steps, plain %t, next %d, epoch %d", len(d.Steps), d.Plain(), d.Next(), d.Epoch(2))
	return strings.Join(out, "; ")
}

func halted(err error) string {
	h, ok := errors.AsType[*verdict.Halt](err)
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("halt %s at %d: %v", h.Code, h.Offset, h)
}

func decider(topic *wire.Topic) (*Decider, Facts) {
	s := &wire.Service{Consumer: "c", Limits: wire.Limits{MaxPayload: 12}}
	d := New(s, topic, catalog.NewCurrent(s, slog.New(slog.DiscardHandler)))
	return d, Facts{Known: keys.New(&keys.Process{}, idemtype.Partition{}, topic, nil).Known(keys.Place{})}
}

func TestDecisions(t *testing.T) {
	parked := &deadletter.Parked{}
	parked.Forward([]deadletter.Move{{Key: *deadletter.OrderKey(&wire.Message{Key: []byte("p")}), Dead: 1}})
	other := &wire.FailurePolicy{StopAfter: 9}
	for name, c := range map[string]struct {
		records string // separated by commas
		policy  wire.FailurePolicy
		facts   func(*Facts)
		want    string
	}{
		"none":       {"", wire.FailurePolicy{}, nil, "0 steps, plain true, next 0, epoch 2"},
		"two events": {"put a1,put b1", wire.FailurePolicy{}, nil, "2 applied; claim a; claim b; 1 steps, plain true, next 12, epoch 4"},
		"in the chain": {"here a1,put b1", wire.FailurePolicy{}, nil,
			"2 applied; claim b; 20 bytes of keys in the row; 1 steps, plain true, next 12, epoch 4"},
		"a call": {"call a1", wire.FailurePolicy{}, nil, "1 applied; claim a; 1 steps, plain false, next 11, epoch 3"},
		"a duplicate and a conflict": {"put a1,put a1,put a2", wire.FailurePolicy{}, func(f *Facts) { f.Events = true },
			`1 applied; 1 duplicate; 1 conflict; letter 12 "Asked" conflict: Asked: the key was used before by an event with different content; the first copy is in the same batch; ` +
				`claim a; 1 in a row from 12; event 10 Asked applied; event 11 Asked duplicate; event 12 Asked conflict; 1 steps, plain true, next 13, epoch 5`},
		"ignored": {"skip a1,put a1", wire.FailurePolicy{}, func(f *Facts) { f.Events, f.InRow = true, ledger.InRow{N: 1, First: 4} },
			"1 applied; 1 ignored; claim a; event 10  ignored; event 11 Asked applied; 1 steps, plain true, next 12, epoch 4"},
		"ignored records end no row of dead letters": {"skip a1", wire.FailurePolicy{}, func(f *Facts) { f.InRow = ledger.InRow{N: 1, First: 4} },
			"1 ignored; 1 in a row from 4; 0 steps, plain true, next 11, epoch 3"},
		"dead": {"x,refuse a1,put a1", wire.FailurePolicy{StopAfter: 2}, func(f *Facts) { f.Events = true },
			`1 applied; 2 dead; letter 10 "Asked" decode: Asked: nonsense; letter 11 "Asked" decode: Asked: refused; claim a; hidden a; ` +
				`event 10 Asked dead; event 11 Asked dead; event 12 Asked applied; 1 steps, plain true, next 13, epoch 5`},
		"too large": {"put a1 and more than that", wire.FailurePolicy{}, nil,
			`1 dead; letter 10 "" too_large: the payload has 25 bytes, limits.max_payload is 12; 1 in a row from 10; 0 steps, plain true, next 11, epoch 3`},
		"too many in a row": {"x,y,put a1", wire.FailurePolicy{StopAfter: 1}, nil,
			`1 dead; letter 10 "Asked" decode: Asked: nonsense; 1 in a row from 10; 0 steps, plain true, next 11, epoch 3`},
		"the first is too many": {"refuse a1,put b1", wire.FailurePolicy{StopAfter: 2}, func(f *Facts) { f.InRow = ledger.InRow{N: 2, First: 5} },
			`halt too-many-dead-letters at 10: 2 records in a row became dead letters, the first at offset 5 (on_failure.stop_after), and this one would be the next: ` +
				`decode: Asked: refused; hidden a; 2 in a row from 5; 0 steps, plain true, next 12, epoch 4`},
		"on_failure stops": {"put a1,x", wire.FailurePolicy{Stop: true}, nil, "1 applied; claim a; 1 steps, plain true, next 11, epoch 3"},
		"on_failure stops at the first": {"x,put a1", wire.FailurePolicy{Stop: true}, nil,
			"halt record-refused at 10: on_failure says stop: decode: Asked: nonsense; 0 steps, plain true, next 12, epoch 4"},
		"a replay does not halt": {"x", wire.FailurePolicy{Stop: true}, func(f *Facts) { f.Replay = true },
			`1 dead; letter 10 "Asked" decode: Asked: nonsense; 1 in a row from 10; 0 steps, plain true, next 11, epoch 3`},
		"refused by the database": {"put a1,put b1", wire.FailurePolicy{}, func(f *Facts) {
			f.Refused = map[int64]deadletter.Letter{11: {Event: "B", Reason: "database: no", Policy: other}}
		}, `1 applied; 1 dead; letter 11 "B" database: no; claim a; 1 in a row from 11; 1 steps, plain true, next 12, epoch 4`},
		"a letter that says stop": {"put a1", wire.FailurePolicy{}, func(f *Facts) {
			f.Refused = map[int64]deadletter.Letter{10: {Reason: "no", Stop: true, Policy: other}}
		}, "halt record-refused at 10: no; 0 steps, plain true, next 11, epoch 3"},
		"effects wait": {"put a1,effect b1,effect c1", wire.FailurePolicy{}, nil,
			"1 applied; claim a; claim b; claim c; effect of 11; effect of 12; 1 ready; 1 steps, plain true, next 13, epoch 5"},
		"an effect with its result": {"effect a1", wire.FailurePolicy{}, func(f *Facts) { f.Effects = map[int64]wire.EffectResult{10: {}} },
			"1 applied; claim a; 1 results; 1 steps, plain true, next 11, epoch 3"},
		"a refused effect": {"effect a1,put b1", wire.FailurePolicy{}, func(f *Facts) {
			f.Refused = map[int64]deadletter.Letter{10: {Event: "A", Reason: "effect: no", Effect: true, Policy: other}}
		}, `1 applied; 1 dead; letter 10 "A" effect: no; claim b; hidden a; 1 steps, plain true, next 12, epoch 4`},
		"a refused effect that took effect meanwhile": {"put a1,effect a1", wire.FailurePolicy{}, func(f *Facts) {
			f.Refused = map[int64]deadletter.Letter{11: {Event: "A", Reason: "effect: no", Effect: true, Policy: other}}
		}, `1 applied; 1 duplicate; claim a; 1 steps, plain true, next 12, epoch 4`},
		"a result of a record that cannot take effect": {"x", wire.FailurePolicy{}, func(f *Facts) {
			f.Effects = map[int64]wire.EffectResult{10: {Result: []byte("7")}}
		}, `1 dead; letter 10 "Asked" decode: Asked: nonsense; with result 7; 1 in a row from 10; 0 steps, plain true, next 11, epoch 3`},
		"parked": {"p/put a1,q/put b1,put c1", wire.FailurePolicy{Stop: true}, func(f *Facts) { f.Parked, f.Events = parked, true },
			`2 applied; 1 parked; letter 10 "" parked: waits behind a dead letter of its record key; dead 0 waiting 1; claim b; claim c; ` +
				`event 10  waiting; event 11 Asked applied; event 12 Asked applied; 1 steps, plain true, next 13, epoch 5`},
		"parked in the batch": {"q/x,q/put a1,r/put b1", wire.FailurePolicy{Park: true, StopAfter: 5}, func(f *Facts) { f.Parked = parked },
			`1 applied; 1 dead; 1 parked; letter 10 "Asked" decode: Asked: nonsense; letter 11 "" parked: waits behind a dead letter of its record key; ` +
				`dead 1 waiting 0; dead 0 waiting 1; claim b; 1 steps, plain true, next 13, epoch 5`},
		"a replay waits for nothing": {"p/put a1", wire.FailurePolicy{}, func(f *Facts) { f.Parked, f.Replay = parked, true },
			"1 applied; claim a; 1 steps, plain true, next 11, epoch 3"},
	} {
		topic := &wire.Topic{Name: "t", OnFailure: c.policy, NewPlan: func() wire.Plan { return &asked{} }}
		d, f := decider(topic)
		if c.facts != nil {
			c.facts(&f)
		}
		var list []wire.Message
		if c.records != "" {
			list = records(strings.Split(c.records, ",")...)
		}
		for range 2 { // a decision leaves nothing behind for the next one
			got, err := d.Decide(list, f)
			text := inWords(got)
			if err != nil {
				text = halted(err) + "; " + text
			}
			if text != c.want {
				t.Errorf("%s:\n%s\nwant\n%s", name, text, c.want)
			}
		}
	}
}
