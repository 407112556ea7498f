package idemtest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
)

func TestValuesInTheFormOfExpectedRows(t *testing.T) {
	db := DB(t)
	Exec(t, db, `
SET timezone = 'Asia/Tokyo';
CREATE TABLE v (a text, b boolean, c numeric(8,3), d numeric, e float8, f uuid, g timestamptz, h timestamp, i date, j bytea, k jsonb, l json, m text[], n bigint[], o varchar(5),
	p float4, q timestamptz[], r date[], s inet, t timestamp[], u time, v numeric[]);
INSERT INTO v VALUES ('a "b" <c> é', true, 1.5, 100.00, 1e21, '00000000-0000-4000-8000-00000000000A', '2026-01-02 03:04:05.6+01', '2026-01-02 03:04:05', '2026-01-02',
	'\x00ff', '{"b": 1.50, "a": [null, 1e2], "é": "x"}', '{"z":-0.0,"a":1,"a":2e1}', '{a,NULL}', '{1,NULL}', 'x',
	0.1, '{2026-01-02 03:04:05+01,NULL}', '{2026-01-02}', '10.0.0.0/8', '{}', '1:30', '{1.50,1e2}'); INSERT INTO v (a) VALUES (NULL)`)
	b := database{t, db}
	got, err := b.rows(comparedTable{Name: "v", Columns: strings.Split("abcdefghijklmnopqrstuv", "")})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`a="a \"b\" <c> é"`, `b=true`, `c=1.500`, `d=100.00`, `e=1e+21`, `f=00000000-0000-4000-8000-00000000000a`,
		`g=2026-01-02T02:04:05.600000Z`, `h=2026-01-02T03:04:05.000000`, `i=2026-01-02`, `j=\x00ff`,
		`k={"a":[null,100],"b":1.50,"é":"x"}`, `l={"a":20,"z":0.0}`, `m=["a",null]`, `n=[1,null]`, `o="x"`,
		`p=0.1`, `q=["2026-01-02T02:04:05.000000Z",null]`, `r=["2026-01-02"]`, `s="10.0.0.0/8"`, `t=[]`, `u="01:30:00"`, `v=[1.50,100]`,
	}
	if !slices.Equal(got.cells[0], want) {
		t.Errorf("got  %q\nwant %q", got.cells[0], want)
	}
	for _, c := range got.cells[1] {
		if !strings.HasSuffix(c, "=NULL") {
			t.Errorf("got %s, want NULL", c)
		}
	}
}

func TestPlainNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "-0.00": "0.00", "12": "12", "-1.50": "-1.50", "1e2": "100", "1.5e1": "15", "1.50e1": "15.0",
		"1E-3": "0.001", "12.5e-3": "0.0125", "1e+1": "10", "1e1001": "1e1001", "0.1e1": "1",
	} {
		if got := plain(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestDeadLetterMatches(t *testing.T) {
	for _, c := range []struct {
		want expectedDead
		got  deadLetter
		ok   bool
	}{
		{expectedDead{class: "decode", path: "items[1].price"}, deadLetter{class: "decode", reason: "decode: OrderPlaced: items[1].price must be a number"}, true},
		{expectedDead{class: "decode", path: "items[0].price"}, deadLetter{class: "decode", reason: "decode: OrderPlaced: items[1].price must be a number"}, false},
		{expectedDead{class: "decode", path: "the payload"}, deadLetter{class: "decode", reason: "decode: ends too early"}, true},
		{expectedDead{class: "database", path: "-"}, deadLetter{class: "database", reason: "database: SQLSTATE 23505"}, true},
		{expectedDead{class: "database", path: "-"}, deadLetter{class: "handler", reason: "handler: no"}, false},
		{expectedDead{}, deadLetter{class: "handler", reason: "handler: no"}, true},
	} {
		if c.want.matches(c.got) != c.ok {
			t.Errorf("%+v and %+v: want %v", c.want, c.got, c.ok)
		}
	}
}

func TestVariantsChangeOneValueEach(t *testing.T) {
	var got []string
	for _, v := range variants(idem.Message{Value: []byte(`{"b":[{"x":1.50},"k9"],"a":"web","t":true,"n":null}`)}, taken{}) {
		got = append(got, v.path+" "+string(v.value))
	}
	want := []string{
		`a {"a":"webx","b":[{"x":1.50},"k9"],"n":null,"t":true}`,
		`b[0].x {"a":"web","b":[{"x":1.51},"k9"],"n":null,"t":true}`,
		`b[1] {"a":"web","b":[{"x":1.50},"k8"],"n":null,"t":true}`,
		`t {"a":"web","b":[{"x":1.50},"k9"],"n":null,"t":false}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if v := variants(idem.Message{Value: []byte("no json")}, taken{}); v != nil {
		t.Errorf("no JSON: %v", v)
	}
}

// A value in place of another must not make the record another one of the log.
func TestVariantsTakeValuesThatTheLogHasNot(t *testing.T) {
	for v, want := range map[any]any{"k 1": "k 5", "a": "axx", json.Number("9"): json.Number("7"), json.Number("10"): json.Number("11"), true: false} {
		taken := func(v any) bool {
			return slices.Contains([]any{"k 2", "k 3", "k 4", "ax", json.Number("8"), json.Number("1"), false}, v)
		}
		if got, ok := changed(v, taken); got != want || !ok {
			t.Errorf("%v becomes %v, want %v", v, got, want)
		}
	}
	known := taken{"a=k1": true, "a=k2": true}
	for _, want := range []string{`{"a":"k3"}`, `{"a":"k4"}`} {
		if got := variants(idem.Message{Value: []byte(`{"a":"k1"}`)}, known); len(got) != 1 || string(got[0].value) != want {
			t.Errorf("variants %s, want %s", got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	if d := diff([]string{"b", "a", "a"}, []string{"a", "b", "a"}); d != "" {
		t.Errorf("equal lines in another order: %q", d)
	}
	if d := diff([]string{"a", "a", "c"}, []string{"a", "b"}); d != "- a\n+ b\n- c" {
		t.Errorf("got %q", d)
	}
}

// Of a CloudEvent in structured mode the data changes, and not what it is wrapped in.
func TestVariantsOfACloudEventAreOfItsData(t *testing.T) {
	m := idem.Message{Value: []byte(`{"id":"1","data":{"a":"k1"}}`), Headers: []idem.Header{{Name: "content-type", Value: []byte("application/cloudevents+json")}}}
	got := variants(m, taken{})
	if len(got) != 1 || got[0].path != "a" || string(got[0].value) != `{"data":{"a":"k2"},"id":"1"}` {
		t.Errorf("got %+v", got)
	}
}
