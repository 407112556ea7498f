package oracle

import (
	"strings"
	"testing"
)

func TestParseJSONAcceptsOnlyStrictJSON(t *testing.T) {
	good := []string{
		`0`, ` -0 `, `-0.5e+10`, `1E3`, `"a\u00e9\ud83d\ude00\/"`, `[]`, `[1 , [2]]`, `{}`, "\t{\"a\" : null}\r\n", `"\ud800"`, `"\u0000"`,
		strings.Repeat("[", 64) + strings.Repeat("]", 64),
	}
	for _, text := range good {
		if _, err := parseJSON([]byte(text), 64); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	bad := []string{
		``, ` `, `01`, `-`, `1.`, `.5`, `+1`, `1e`, `1e+`, `--1`, `00`, `-01`, `tru`, `True`, `nul`, `NaN`, `'a'`, `"a`, `"\x"`, `"\u12g4"`, `"\u12`,
		"\"a\nb\"", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", `[1,]`, `[,1]`, `[1 2]`, `[1`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`,
		`{"a":1`, `{"a":1}}`, `1 2`, "\ufeff{}", "{\x00}", "\xff\xfe{\x00", `{"a":1} x`,
		strings.Repeat("[", 65) + strings.Repeat("]", 65),
	}
	for _, text := range bad {
		if _, err := parseJSON([]byte(text), 64); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestParseJSONUnescapes(t *testing.T) {
	n, err := parseJSON([]byte(`"\"\\\/\b\f\n\r\t\u0041\u20AC\ud83d\ude00é"`), 1)
	if err != nil || n.text != "\"\\/\b\f\n\r\tA€😀é" || n.bad != "" {
		t.Errorf("%q %q %v", n.text, n.bad, err)
	}
	for _, text := range []string{`"\u0000"`, `"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ud800x"`, `"\ud800\n"`} {
		if n, err := parseJSON([]byte(text), 1); err != nil || n.bad == "" {
			t.Errorf("%s is fit for a text column: %v", text, err)
		}
	}
}

func TestCanonicalJSON(t *testing.T) {
	// The right side is what Postgres 15 printed for text::jsonb, without its spaces and
	// with keys sorted by their bytes.
	for text, want := range map[string]string{
		`{"b": 1.50, "a":[1e3, -0, -0.0]}`:          `{"a":[1000,0,0.0],"b":1.50}`,
		`{"e":1.0e-3,"x":100e-1,"y":0.000e3}`:       `{"e":0.0010,"x":10.0,"y":0}`,
		`{"a":1,"a":2,"aa":3,"B":4}`:                `{"B":4,"a":2,"aa":3}`,
		`"<&>\u20ac\u001f\/"`:                       `"<&>€\u001f/"`,
		` [ true , false , null , "" , { } , [] ] `: `[true,false,null,"",{},[]]`,
	} {
		n, err := parseJSON([]byte(text), 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := canonical(n); got != want || !ok {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestSpaceBetweenTokensIsInsignificant(t *testing.T) {
	if got := withoutSpace("{ \"a b\\\" \" :\t[ 1 ,\r\n\"\\\\\" ] }"); got != `{"a b\" ":[1,"\\"]}` {
		t.Error(got)
	}
}

// JSON is compared as jsonb does it.
func TestJSONIsComparedByContent(t *testing.T) {
	for text, want := range map[string]string{
		"{ \"a b\\\" \" :\t[ 1 ,\r\n\"\\\\\" ] }":   `{"a b\" ":[1,"\\"]}`,
		`{"b":1.50,"a":{"d":1e2,"c":-0.0},"b":1.5}`: `{"a":{"c":0,"d":100},"b":1.5}`,
		`"\u0041"`: `"A"`,
	} {
		if got := jsonContent(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
