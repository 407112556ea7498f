// Package generated_test calls generated code: the packages of testdata/golden. It is apart from
// the tests that render them, so that go test -update works when the two do not fit.
package generated_test

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/testdata/golden/behaviour/corners"
)

const (
	recordKey  = "00000000-0000-4000-8000-000000000001"
	partsValue = `{"meta":{"type":"parts"},"parts":[
		{"m":"a","tags":["x","y"],"more":[{"s":"q","maybe":{"e":7}},{"s":"r"}],"deep":{"place":{"e":1}}},
		{"m":"b","tags":[],"more":[],"deep":null},
		{"m":"c","tags":["z"],"more":null}],
		"main":{"m":"d","tags":["t"],"more":[{"s":"u"}],"deep":{"place":{"e":2}}}}`
)

func message(value string, headers ...wire.Header) *wire.Message {
	return &wire.Message{
		Topic: "type.v1", Key: []byte(recordKey), Value: []byte(value),
		Headers: append([]wire.Header{{Name: "type", Value: []byte("id-1")}}, headers...),
	}
}

// TestDecodeParts: nested lists and objects, where absent and null are NULL and an empty
// list is not.
func TestDecodeParts(t *testing.T) {
	e, err := corners.DecodeParts(message(partsValue))
	if err != nil {
		t.Fatal(err)
	}
	id, _ := wire.ParseUUID(recordKey)
	want := corners.Parts{
		T: "parts", E: id,
		Parts: []corners.Part{
			{M: "a", Tags: []string{"x", "y"}, More: []corners.Part2{{S: "q", Maybe: &corners.Part3{E: 7}}, {S: "r"}}, Place: &corners.Part3{E: 1}},
			{M: "b", More: []corners.Part2{}},
			{M: "c", Tags: []string{"z"}},
		},
		Main: corners.Part{M: "d", Tags: []string{"t"}, More: []corners.Part2{{S: "u"}}, Place: &corners.Part3{E: 2}},
	}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got  %+v\nwant %+v", e, want)
	}
}

// TestDecodeTwice: one value may be two fields, and a field may hold others.
func TestDecodeTwice(t *testing.T) {
	e, err := corners.DecodeScan(message(`{"body":{"other":[1],"n": 12},"meta":{"type":"scan"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if e.N != 12 || string(e.NText) != "12" || string(e.U) != `{"other":[1],"n": 12}` {
		t.Errorf("%d %s %s", e.N, e.NText, e.U)
	}
	s, err := corners.DecodeSelect(message(`{"meta":{"type":"select"},"words":["a"]}`, wire.Header{Name: "range", Value: []byte("5")}))
	if err != nil {
		t.Fatal(err)
	}
	if string(s.Whole) != `{"meta":{"type":"select"},"words":["a"]}` || s.Kind != corners.KeyB || *s.Traced != 5 {
		t.Errorf("%s %s %v", s.Whole, s.Kind, s.Traced)
	}
}

// TestRefused: what is wrong with a record is named by its class and place, and leaves no
// row behind.
func TestRefused(t *testing.T) {
	const scan = `{"body":{"n":1},"meta":{"type":"scan"}}`
	cases := []struct {
		name, value string
		change      func(m *wire.Message)
		want        string // class and path
	}{
		{name: "missing member", value: `{"body":{},"meta":{"type":"scan"}}`, want: "decode body.n"},
		{name: "missing on a path through null", value: `{"body":null,"meta":{"type":"scan"}}`, want: "decode body"},
		{name: "member twice", value: `{"body":{"n":1,"n":2},"meta":{"type":"scan"}}`, want: "decode body.n"},
		{name: "member on the way twice", value: `{"meta":{"type":"scan"},"body":{"n":1},"body":{"n":1}}`, want: "decode body"},
		{name: "wrong type of a nested member", value: `{"meta":{"type":"parts"},"parts":[{"m":"a","tags":[]},{"m":"a","tags":[1]}]}`, want: "decode parts[1].tags[0]"},
		{name: "missing nested member", value: `{"meta":{"type":"parts"},"parts":[{"tags":[]}]}`, want: "decode parts[0].m"},
		{name: "data after the payload", value: scan + "x", want: "decode the payload"},
		{name: "too long for its column", value: `{"meta":{"type":"parts"},"main":{"m":"","tags":[]},"parts":[{"m":"12345","tags":[]},{"m":"123456","tags":[]}]}`, want: "fit parts[1].m"},
		{name: "element too long", value: `{"meta":{"type":"select"},"words":["abc","abcd"]}`, want: "fit words[1]"},
		{name: "unknown enum text", value: `{"meta":{"type":"select"},"words":[],"kind":"c"}`, want: "decode kind"},
		{name: "null instead of a default", value: `{"meta":{"type":"select"},"words":[],"kind":null}`, want: "decode kind"},
		{name: "empty key", value: scan, change: func(m *wire.Message) { m.Headers[0].Value = []byte{} }, want: "key header type"},
		{name: "no record key", value: scan, change: func(m *wire.Message) { m.Key = nil }, want: "decode record key"},
		{name: "header of another type", value: scan, change: func(m *wire.Message) { m.Headers = append(m.Headers, wire.Header{Name: "range", Value: []byte("x")}) }, want: "decode header range"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := message(c.value)
			if c.change != nil {
				c.change(m)
			}
			b := wire.NewBatch(corners.NewPlan())
			b.Reset(nil)
			_, err := b.Add(m, &wire.FailurePolicy{Stop: true})
			var decode *wire.DecodeError
			if !errors.As(err, &decode) {
				t.Fatalf("got %v", err)
			}
			class := decode.Class
			if class == "" {
				class = wire.ReasonDecode
			}
			if got := class + " " + decode.Path; got != c.want {
				t.Errorf("got %s, want %s (%v)", got, c.want, err)
			}
			if steps, claims := b.Finish(); len(steps)+len(claims) > 0 {
				t.Errorf("%d steps and %d claims", len(steps), len(claims))
			}
		})
	}
}

// TestOutcome: what the spec says about records that no event takes, and about failures.
func TestOutcome(t *testing.T) {
	b := wire.NewBatch(corners.NewPlan())
	b.Reset(nil)
	for _, typ := range []string{"ping", "never heard of"} {
		if out, err := b.Add(message(`{"meta":{"type":"`+typ+`"}}`), &wire.FailurePolicy{Stop: true}); out != wire.Ignored || err != nil {
			t.Errorf("%s: %v, %v", typ, out, err)
		}
	}
	tombstone := message("")
	tombstone.Value = nil
	var none *wire.DecodeError
	if _, err := b.Add(tombstone, &wire.FailurePolicy{Stop: true}); !errors.As(err, &none) || none.Class != wire.ReasonTombstone {
		t.Errorf("tombstone: %v", err)
	}
	_, _ = b.Add(message(`{"meta":{"type":"scan"}}`), &wire.FailurePolicy{Stop: true}) // refused: it lacks the rest
	if !b.Failure().Stop {
		t.Error("give_up stop is false")
	}
}

// TestWaves: a row written twice, and a parent deleted before its child comes back, need
// statements in order; independent rows share one statement each.
func TestWaves(t *testing.T) {
	const gone = `{"meta":{"type":"gone"}}`
	parts := func(n string) string {
		return `{"meta":{"type":"parts"},"parts":[{"m":"` + n + `","tags":[]},{"m":"` + n + `","tags":[]}],"main":{"m":"","tags":[]}}`
	}
	other := "00000000-0000-4000-8000-000000000002"
	cases := []struct {
		name    string
		records []string // record key and value
		want    string   // statements: their numbers in Statements with their rows
	}{
		{"rows of two parents", []string{recordKey, parts("a"), other, parts("b")}, "1x4"},
		{"the same rows again", []string{recordKey, parts("a"), recordKey, parts("b")}, "1x2 1x2"},
		{"child before the parent's delete", []string{recordKey, parts("a"), recordKey, gone}, "1x2 3x1"},
		{"child after the parent's delete", []string{recordKey, gone, recordKey, parts("a")}, "3x1 1x2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := wire.NewBatch(corners.NewPlan())
			b.Reset(nil)
			for i := 0; i < len(c.records); i += 2 {
				m := message(c.records[i+1])
				m.Key = []byte(c.records[i])
				m.Headers[0].Value = []byte{byte('a' + i)}
				if _, err := b.Add(m, &wire.FailurePolicy{Stop: true}); err != nil {
					t.Fatal(err)
				}
			}
			steps, _ := b.Finish()
			var got []string
			for _, s := range steps {
				rows := binary.BigEndian.Uint32(s.Args[0][12:]) // length of the first array
				got = append(got, string(rune('0'+slices.Index(corners.Statements(), s.SQL)))+"x"+string(rune('0'+rows)))
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}

// TestNoAllocations: a declarative event allocates nothing once its buffers have grown.
func TestNoAllocations(t *testing.T) {
	b := wire.NewBatch(corners.NewPlan())
	parts, gone := message(partsValue, wire.Header{Name: "range", Value: []byte("3")}), message(`{"meta":{"type":"gone"}}`)
	gone.Headers[0].Value = []byte("id-2")
	policy := &wire.FailurePolicy{}
	run := func() {
		b.Reset(nil)
		for _, m := range []*wire.Message{parts, gone} {
			if _, err := b.Add(m, policy); err != nil {
				t.Fatal(err)
			}
		}
		b.Finish()
	}
	for range 10 {
		run()
	}
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPartsOfTheRecordKey: sets of parts whose names join to one are read apart, and a decimal is
// the same as its field, however many zeros the two have.
func TestPartsOfTheRecordKey(t *testing.T) {
	m := &wire.Message{Topic: "tenants.v1", Key: []byte(`{"tenant":"t","id":"i","owner":"o","size":1.0}`), Value: []byte(`{"size":1.00}`)}
	if e, err := corners.DecodeSized(m); err != nil || e.Tenant != "t" || e.ID != "i" || e.Size.String() != "1.00" {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := corners.DecodeEventType(m); err != nil || e.Tenant != "t" || e.ID != "i" {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := corners.DecodeEventTypeEvent(m); err != nil || e.TenantID != "o" {
		t.Errorf("%+v, %v", e, err)
	}
	m.Value = []byte(`{"size":1.01}`)
	if _, err := corners.DecodeSized(m); err == nil || !strings.Contains(err.Error(), "differs from the record key") {
		t.Errorf("another size: %v", err)
	}
}
