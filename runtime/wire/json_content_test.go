package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func contentOf(text string) string { return string(new(jsonContent).append(nil, []byte(text))) }

// A copy that went through jsonb is the same content: jsonb sorts members, keeps the last of
// repeated ones, and writes numbers and strings in its own way.
func TestACopyThatWentThroughJSONBIsTheSameContent(t *testing.T) {
	for sent, stored := range map[string]string{
		`{"b":1,"a":2}`: `{"a": 2, "b": 1}`,
		`{"id":"o-1","Total":{"net":10.50,"cur":"EUR"},"tags":["z","a"]}`: `{"id": "o-1", "tags": ["z", "a"], "Total": {"cur": "EUR", "net": 10.5}}`,
		`{"a":1,"b":{"x":1},"a":{"c":3,"b":2},"b":7}`:                     `{"a":{"b":2,"c":3},"b":7}`,
		`[1.0, 1.00, 1e0, 10e-1, 0.1E+1]`:                                 `[1,1,1,1,1]`,
		`[100, 1e2, -0, -0.00, 0e5, 0.00012]`:                             `[1.00e2,100.0,0,0,0,12e-5]`,
		`"\u0041\/\u00e9\ud83d\ude00\n"`:                                  `"A/\u00E9\ud83d\uDE00\u000a"`,
		`"\u0041\u0042\b\f\r\t\"\\"`:                                      "\"AB\\u0008\\u000c\\u000d\\u0009\\u0022\\u005c\"",
		`["\ud83dxxde00", "\ude00\ud83d", "\ud83d\u0041"]`:                `["\ufffdxxde00", "\ufffd\ufffd", "\ufffdA"]`,
		`{"\u0061":1,"b":2}`:                                              `{"b":2,"a":1}`,
		" {\n\"b\" : [ 1,\t\"x \\\" y\"]\r}":                              `{"b":[1,"x \" y"]}`,
		`[true, false ,null]`:                                             `[true,false,null]`,
		`1234567890123456789012345678901234567890.10`:                     `1234567890123456789012345678901234567890.1`,
	} {
		if a, b := contentOf(sent), contentOf(stored); a != b {
			t.Errorf("%s\n%q\n%s\n%q", sent, a, stored, b)
		}
	}
}

// What needs much memory once does not keep it.
func TestALargeValueLeavesNoMemory(t *testing.T) {
	var f Fingerprint
	f.Start()
	f.AppendJSONValue("a", func(b []byte) []byte {
		return append(append(append(b, '{'), strings.Repeat(`"b":1,"a":1,`, 1<<17)...), `"a":2}`...)
	})
	if cap(f.text) > 0 || cap(f.content.members) > 0 || cap(f.content.sorted) > 0 {
		t.Errorf("%d bytes of text, %d members and %d bytes are kept", cap(f.text), cap(f.content.members), cap(f.content.sorted))
	}
}

// FuzzJSONContent: two values have the same content exactly if the standard library finds the same
// members, texts, and numbers in them.
func FuzzJSONContent(f *testing.F) {
	for _, in := range [][2]string{
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1e0}`}, {`{"a":{"b":"c"}}`, `{"a":"b","c":{}}`}, {`[1,[2]]`, `[[1,2]]`}, {`"\ud800\u0041"`, `"\ufffdA"`},
		{`{"a":1,"a":2}`, `{"a":2}`}, {`1e400`, `10e399`}, {`[`, `{"`}, {`-0`, `0.0`}, {`"\\u0041"`, `"A"`}, {`{"a":{},"b":1}`, `{"b":1,"a":[]}`},
	} {
		f.Add(in[0], in[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		a, b := contentOf(one), contentOf(other)
		wantA, okA := reference(one)
		wantB, okB := reference(other)
		if okA && okB && (a == b) != (wantA == wantB) {
			t.Fatalf("%s: %q\n%s: %q", one, a, other, b)
		}
		if again, err := json.Marshal(json.RawMessage(one)); okA && err == nil && contentOf(string(again)) != a {
			t.Fatalf("%s: %q, and as %s: %q", one, a, again, contentOf(string(again)))
		}
	})
}

// reference is the content of a JSON value as the standard library reads it.
func reference(text string) (content string, ok bool) {
	var v any
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if !json.Valid([]byte(text)) || d.Decode(&v) != nil {
		return "", false
	}
	var b strings.Builder
	ok = true
	var write func(v any)
	write = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			b.WriteByte('{')
			for _, name := range slices.Sorted(maps.Keys(v)) {
				b.WriteString(strconv.Quote(name))
				write(v[name])
			}
			b.WriteByte('}')
		case []any:
			b.WriteByte('[')
			for _, e := range v {
				write(e)
				b.WriteByte(',')
			}
			b.WriteByte(']')
		case json.Number:
			if _, exp, has := strings.Cut(strings.ToLower(v.String()), "e"); has && len(exp) > 4 {
				ok = false
				return
			}
			n, _ := new(big.Rat).SetString(v.String())
			b.WriteString(n.RatString())
		case string:
			b.WriteString(strconv.Quote(v))
		case bool:
			b.WriteString(strconv.FormatBool(v))
		default:
			b.WriteString("null")
		}
	}
	write(v)
	return b.String(), ok
}
