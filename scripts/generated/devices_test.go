package generated_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/testdata/golden/accepted/devices"
)

const devicesDir = "../../testdata/golden/accepted/devices/"

// A text that Postgres does not read as its column's type costs its own event only, whatever the
// type and whatever else is in the batch, and the reason names the column, not the text.
func TestTextsThatPostgresRejectsAreDeadLettersThatNameTheColumn(t *testing.T) {
	s := resolved(t, devicesDir+"idemgen.yaml")
	db := idemtest.Migrated(t, devicesDir+"testdata", devicesDir+"migrations")
	consumer, err := devices.NewConsumer(db)
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, consumer, "devices.v1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	offset := int64(0)
	send := func(e *model.Event, broken *model.Field) (m idem.Message) {
		m = idem.Message{Topic: "devices.v1", Offset: offset, LeaderEpoch: -1, Time: time.Now(),
			Key: fmt.Appendf(nil, "00000000-0000-4000-8000-%012d", offset), Value: deviceValue(e, broken),
			Headers: []idem.Header{{Name: "key", Value: fmt.Append(nil, offset)}}}
		offset++
		return m
	}
	for _, e := range s.Topics[0].Events {
		for _, st := range e.Steps {
			for _, a := range st.Set {
				kind := a.Column.Type
				if a.Value.Field == nil || st.Each != nil || kind.Kind != model.ColParsed && kind.Elem != model.ColParsed || kind.Name == "citext" {
					continue // citext takes every text
				}
				tried[kind.String()] = true
				at := offset + 1
				res, err := w.Apply(t.Context(), []idem.Message{send(e, nil), send(e, a.Value.Field), send(e, nil)})
				if err != nil || res.Applied != 2 || res.Dead != 1 {
					t.Fatalf("%s in %s: %+v %v", kind, a.Column.Name, res, err)
				}
				var reason, state string
				if err := db.QueryRow(t.Context(), `SELECT reason, sqlstate FROM idem_dead_letter WHERE offs = $1`, at).Scan(&reason, &state); err != nil {
					t.Fatal(err)
				}
				_, columns, _ := strings.Cut(reason, ", column ")
				if !strings.HasPrefix(reason, "database: "+e.GoName+": ") || !strings.HasPrefix(state, "22") ||
					!slices.Contains(strings.Split(columns, " or "), a.Column.Name) || strings.Contains(reason, "?") {
					t.Errorf("%s: %s", kind, reason)
				}
			}
		}
	}
	for _, word := range slices.DeleteFunc(slices.Clone(model.Parsed), func(w string) bool { return w == "citext" }) {
		if !tried[word] {
			t.Errorf("no column of %s was tried", word)
		}
	}
}

// A unique index of citext that the spec does not name finds texts equal that differ. Within one
// batch, too, the second of two such rows is the dead letter, and one that is gone makes room.
func TestEqualTextsOfOneBatchAreKeptApart(t *testing.T) {
	s := resolved(t, devicesDir+"idemgen.yaml")
	db := idemtest.Migrated(t, devicesDir+"testdata", devicesDir+"migrations")
	idemtest.Exec(t, db, "CREATE UNIQUE INDEX ON devices (name)")
	consumer, err := devices.NewConsumer(db)
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, consumer, "devices.v1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var batch []idem.Message
	for i, device := range []struct{ id, name string }{{"1", "Gate"}, {"2", "GATE"}, {"1", ""}, {"3", "gate"}} {
		m := idem.Message{Topic: "devices.v1", Offset: int64(i), LeaderEpoch: -1, Time: time.Now(),
			Key: []byte("00000000-0000-4000-8000-00000000000" + device.id), Headers: []idem.Header{{Name: "key", Value: fmt.Append(nil, i)}}}
		if device.name != "" {
			m.Value = []byte(strings.Replace(string(deviceValue(s.Topics[0].Events[0], nil)), model.ParsedText("citext", 1), device.name, 1))
		}
		batch = append(batch, m)
	}
	res, err := w.Apply(t.Context(), batch)
	var left, dead string
	if err == nil {
		err = db.QueryRow(t.Context(), `SELECT (SELECT string_agg(name::text, ' ') FROM devices), (SELECT string_agg(offs || ' ' || sqlstate, ' ') FROM idem_dead_letter)`).Scan(&left, &dead)
	}
	if err != nil || res.Applied != 3 || left != "gate" || dead != "1 23505" {
		t.Errorf("%+v, rows %q, dead letters %q: %v", res, left, dead, err)
	}
}

// deviceValue is a payload of an event with texts that Postgres reads, but for one.
func deviceValue(e *model.Event, broken *model.Field) []byte {
	value := map[string]any{"type": e.Types[0]}
	for _, f := range e.Fields {
		switch f.Type.Kind {
		case model.Int32, model.Float64:
			value[f.Name] = 1
		case model.List:
			value[f.Name] = []any{}
		}
	}
	for _, st := range e.Steps {
		for _, a := range st.Set {
			if a.Value.Field != nil && st.Each == nil && a.Column.Type.Kind == model.ColParsed {
				value[a.Value.Field.Name] = model.ParsedText(a.Column.Type.Name, 1)
			}
		}
	}
	switch {
	case broken == nil:
	case broken.Type.Kind == model.List:
		value[broken.Name] = []string{"?"}
	default:
		value[broken.Name] = "?"
	}
	text, _ := json.Marshal(value) // texts and numbers
	return text
}

// Postgres writes the texts of tests as they are, so a row that a test expects is one that the
// reader of the test sees in the record.
func TestTextsOfTestsAreWrittenAsTheyAre(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Exec(t, db, "CREATE EXTENSION citext; ALTER DATABASE "+pgx.Identifier{db.Config().ConnConfig.Database}.Sanitize()+" SET TimeZone = 'UTC'")
	db.Reset()
	for _, word := range model.Parsed {
		for _, n := range []int{0, 1, 100_001, 2_345_678} {
			text, got := model.ParsedText(word, n), ""
			if err := db.QueryRow(t.Context(), "SELECT format('%s', $1::text::"+word+")", text).Scan(&got); err != nil || got != text {
				t.Errorf("%s: %q is %q (%v)", word, text, got, err)
			}
		}
	}
}
