package strictjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/idemgen/idemgen/runtime/wire"
)

// FuzzScanner holds the decoder against encoding/json: it accepts no more than that, and
// what it accepts it reads the same way.
func FuzzScanner(f *testing.F) {
	f.Add(kindsJSON)
	f.Add(orderJSON)
	for _, in := range []string{`{"s":"\ud800"}`, `{"s":"","d":-0.10e-3,"i":"-0","l":-0}`, `{"s":"","o":{"t":null}}`, `{"s":"","f":1e-400}`, `{"s":"","f":-0.0e-400}`, `{"s":"","t":"2024-02-29t23:59:59.1z"}`, "\ufeff{}"} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		e, err := decodeKinds(in)
		var s Scanner
		var borrowed kinds
		s.Borrow(&wire.Message{Value: []byte(in)})
		borrowed.decode(&s)
		if again := s.Finish("Kinds"); text(again) != text(err) {
			t.Fatalf("owned %v, borrowed %v", err, again)
		}
		if err != nil {
			return
		}
		if !json.Valid([]byte(in)) || !utf8.ValidString(in) {
			t.Fatalf("accepted %q", in)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(in), &members); err != nil {
			t.Fatal(err)
		}
		agree(t, members, &e)
	})
}

// FuzzSkip: a document is passed over if and only if it is JSON in UTF-8.
func FuzzSkip(f *testing.F) {
	for _, in := range []string{kindsJSON, `[]`, ` [1,-0.1e+3,"\u0000\ud800",{"a":[true,false,null]}] `, `01`, `"\u12g4"`, "\"\t\"", `[1,]`, `{"a"}`, `tru`, `1 2`} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if strings.Count(in, "[")+strings.Count(in, "{") > maxDepth {
			t.Skip("nested too deeply, perhaps")
		}
		var s Scanner
		s.Borrow(&wire.Message{Value: []byte(in)})
		s.Skip()
		if got, want := s.Finish("") == nil, json.Valid([]byte(in)) && utf8.ValidString(in); got != want {
			t.Fatalf("%q: accepted %v, JSON %v", in, got, want)
		}
	})
}

// agree compares what was decoded with what the standard library makes of the members.
func agree(t *testing.T, members map[string]json.RawMessage, e *kinds) {
	for name, raw := range members {
		var want string
		isText := json.Unmarshal(raw, &want) == nil
		if !isText {
			want = string(raw)
		}
		got := want
		switch name {
		case "s":
			got = e.S
		case "e":
			got = e.E
		case "u":
			got, want = e.U.String(), strings.ToLower(want)
		case "b":
			got = string(wire.AppendBool(nil, e.B))
		case "i":
			got, want = new(big.Rat).SetInt64(int64(e.I)).String(), rational(want)
		case "l":
			got, want = new(big.Rat).SetInt64(e.L).String(), rational(want)
		case "f":
			var f float64
			if err := json.Unmarshal(raw, &f); err != nil || f != e.F {
				t.Fatalf("f: %s read as %v", raw, e.F)
			}
			if mantissa, _, _ := strings.Cut(strings.ToLower(string(raw)), "e"); f == 0 && strings.ContainsAny(mantissa, "123456789") {
				t.Fatalf("f: %s is not 0", raw)
			}
		case "d":
			got, want = rational(e.D.String()), rational(want)
		case "t":
			at, err := time.Parse(time.RFC3339, strings.ToUpper(want))
			if err != nil || at.UnixMicro() != e.T.UnixMicro() {
				t.Fatalf("t: %s read as %v", raw, e.T)
			}
		case "day":
			got = e.Day.String()
		case "lt":
			at, err := time.Parse(time.RFC3339, strings.ToUpper(want)+"Z")
			if err != nil || at.UnixMicro() != int64(e.LT) {
				t.Fatalf("lt: %s read as %v", raw, e.LT)
			}
		case "x":
			got = base64.StdEncoding.EncodeToString(e.X)
		case "j":
			if !bytes.Equal(raw, e.J) {
				t.Fatalf("j: %s read as %s", raw, e.J)
			}
		case "list":
			var list []string
			if err := json.Unmarshal(raw, &list); err != nil || strings.Join(list, "\x00") != strings.Join(e.List, "\x00") || len(list) != len(e.List) {
				t.Fatalf("list: %s read as %q", raw, e.List)
			}
		}
		if got != want {
			t.Fatalf("%s: %s read as %s, not %s", name, raw, got, want)
		}
	}
}

// rational returns the value of a number in a form that is the same for equal numbers.
func rational(text string) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return "no number: " + text
	}
	return r.String()
}
