package strictjson

import (
	"maps"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// labelled is an object with maps.
type labelled struct {
	Labels map[string]string
	Prices map[string]inner
	Deep   map[string]map[string]int32
}

func (e *labelled) decode(s *Scanner) {
	*e = labelled{Labels: e.Labels, Prices: e.Prices, Deep: e.Deep}
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "labels":
			e.Labels = Map(s, e.Labels, s.String)
		case "prices":
			e.Prices = Map(s, e.Prices, func() (v inner) {
				v.decode(s)
				return v
			})
		case "deep":
			e.Deep = Map(s, e.Deep, func() map[string]int32 { return Map(s, nil, s.Int32) })
		default:
			s.Skip()
		}
	}
}

func decodeLabelled(s *Scanner, e *labelled, json string) string {
	s.Borrow(&wire.Message{Value: []byte(json)})
	e.decode(s)
	return text(s.Finish("E"))
}

// No name inside a map is in an error: it is data of the producer.
func TestErrorsInAMapAreOfTheWholeMap(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`{"labels":{}}`, ""},
		{`{"labels":{"":"x","a b":"","A b":"1"},"prices":{"p":{"price":1}},"deep":{"x":{},"y":{"x":1}}}`, ""},
		{`{"labels":null}`, "labels must not be null (at byte 10)"},
		{`{"labels":["a"]}`, "labels must be an object (at byte 10)"},
		{`{"labels":{"a":"1","secret":2}}`, "labels must be a string (at byte 28)"},
		{`{"labels":{"a":null}}`, "labels must not be null (at byte 15)"},
		{`{"labels":{"a":"1","\u0061":"2"}}`, "labels holds a name twice (at byte 28)"},
		{`{"labels":{"a\u0000":"1"}}`, "labels holds U+0000, which text and jsonb of Postgres cannot hold (at byte 11)"},
		{`{"labels":{"a":"1", "\ud800":"1"}}`, "labels holds a lone surrogate (at byte 18)"},
		{`{"labels":{"a":"\u0000"}}`, "labels holds U+0000, which text and jsonb of Postgres cannot hold (at byte 15)"},
		{"{\"labels\":{\"\xff\":\"1\"}}", "labels is not valid UTF-8 (at byte 12)"},
		{`{"labels":{"secret":"x}}`, "labels ends too early (at byte 24)"},
		{`{"labels":{"secret" "x"}}`, "labels is not valid JSON (at byte 20)"},
		{`{"labels":{"secret"`, "labels ends too early (at byte 19)"},
		{`{"labels":{"secret":"x"`, "labels ends too early (at byte 23)"},
		{`{"prices":{"secret":{"price":"x"}}}`, "prices must be an integer (at byte 29)"},
		{`{"prices":{"secret":{}}}`, "prices is missing (at byte 21)"},
		{`{"deep":{"a":{"x":1},"secret":{"y":{}}}}`, "deep must be an integer (at byte 35)"},
		{`{"deep":{"a":{"x":1,"x":1}}}`, "deep holds a name twice (at byte 24)"},
		{`{"labels":{"a":"b"}}x`, "the payload has data after its end (at byte 20)"},
	} {
		var s Scanner
		var e labelled
		want := c.want
		if want != "" {
			want = "decode: E: " + want
		}
		if got := decodeLabelled(&s, &e, c.json); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.json, got, want)
		}
	}
}

// What a map held before is gone, and a second record allocates no other map.
func TestMapHoldsTheNamesOfOneRecord(t *testing.T) {
	var s Scanner
	var e labelled
	for _, c := range []struct {
		json string
		want map[string]string
	}{
		{`{"labels":{"a":"1","b":"\u0032"}}`, map[string]string{"a": "1", "b": "2"}},
		{`{"labels":{"\u0063":"3"}}`, map[string]string{"c": "3"}},
		{`{"labels":{}}`, map[string]string{}},
	} {
		if why := decodeLabelled(&s, &e, c.json); why != "" || !maps.Equal(e.Labels, c.want) || e.Labels == nil {
			t.Errorf("%s: got %v %s", c.json, e.Labels, why)
		}
	}
	m := &wire.Message{Value: []byte(`{"labels":{"a":"1","b":"x\n"}}`)}
	if n := testing.AllocsPerRun(100, func() {
		s.Borrow(m)
		e.decode(&s)
	}); n != 0 {
		t.Errorf("%v allocations in a record", n)
	}
}
