package strictjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/idemgen/idemgen/runtime/wire"
)

// A payload in a JSON string is its text after all escapes.
func TestQuotedUnpacksAPayload(t *testing.T) {
	var q Quoted
	for value, want := range map[string]string{
		`"{\"a\":\"b\"}"`:            `{"a":"b"}`,
		" \n\"[1]\" \n":              `[1]`,
		`"\u007b\"a\":\"\\u00e9\"}"`: `{"a":"\u00e9"}`,
		`"\ud83d\ude00"`:             "\U0001f600",
		`""`:                         "",
		`"null"`:                     "null",
		`"\"in two strings\""`:       `"in two strings"`,
		`"` + "\u00e9\u4e2d" + `\/"`: "\u00e9\u4e2d/",
	} {
		m := wire.Message{Value: []byte(value), Offset: 7}
		opened, err := q.Open(&m)
		if err != nil || string(opened.Value) != want || opened.Value == nil || opened.Offset != 7 {
			t.Errorf("%s: %v, %v", value, opened, err)
		}
		if string(m.Value) != value {
			t.Errorf("%s became %s", value, m.Value)
		}
	}
	m := wire.Message{}
	if opened, err := q.Open(&m); opened != &m || err != nil {
		t.Errorf("a record without a value: %v, %v", opened, err)
	}
}

// What is not one whole JSON string is refused where it is wrong. What is wrong in the unpacked
// payload is named by its field.
func TestQuotedRefuses(t *testing.T) {
	for value, want := range map[string]string{
		``:                    "decode: the payload is empty",
		`{"a":1}`:             "decode: the payload must be a JSON string that holds the payload",
		`null`:                "decode: the payload must not be null",
		`"{}" "{}"`:           "decode: the payload has data after its end (at byte 5)",
		`"{}`:                 "decode: the payload ends too early (at byte 3)",
		`"{\"a\":1\x}"`:       "decode: the payload holds an escape that JSON does not have (at byte 9)",
		"\"{\n}\"":            "decode: the payload holds a control character that is not escaped (at byte 2)",
		"\"\xff\"":            "decode: the payload is not valid UTF-8 (at byte 1)",
		`"\ud800"`:            "decode: the payload holds a lone surrogate",
		`"a\u0000"`:           "decode: the payload holds U+0000, which text and jsonb of Postgres cannot hold",
		`"{\"s\":1,\"d\":2}"`: "decode: Kinds: s must be a string",
		`"{\"s\":\"x\""`:      "decode: Kinds: the unpacked payload ends too early",
	} {
		var q Quoted
		var s Scanner
		var e kinds
		opened, err := q.Open(&wire.Message{Value: []byte(value)})
		if err == nil {
			s.Borrow(opened)
			e.decode(&s)
			err = s.Finish("Kinds")
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, not %s", value, err, want)
		}
	}
}

// A payload that nests deeper than max_depth is refused as if it stood there itself: the string is
// no level.
func TestQuotedPayloadHasItsOwnLevels(t *testing.T) {
	for levels, fine := range map[int]bool{64: true, 65: false} {
		text, _ := json.Marshal(strings.Repeat("[", levels) + strings.Repeat("]", levels))
		var q Quoted
		opened, err := q.Open(&wire.Message{Value: text})
		if err != nil {
			t.Fatal(err)
		}
		var s Scanner
		s.Borrow(opened)
		s.Skip()
		if err := s.Finish(""); (err == nil) != fine {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}

// FuzzQuoted: a value is unpacked if and only if it is a JSON string without what no text column
// holds, and to what the standard library makes of it.
func FuzzQuoted(f *testing.F) {
	for _, in := range []string{`"{\"a\":1}"`, ` "" `, `"\ud83d\ude00\u00e9"`, `"\ud800"`, `"\u0000"`, `{}`, `"a`, "\"\xff\""} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var q Quoted
		opened, err := q.Open(&wire.Message{Value: append([]byte{}, in...)})
		var want string
		wrong := json.Unmarshal(in, &want)
		if err != nil {
			null := string(bytes.TrimSpace(in)) == "null"
			if wrong == nil && !null && utf8.Valid(in) && !strings.ContainsAny(want, "\x00\ufffd") { // which stands for half a pair, too
				t.Fatalf("%q is a JSON string and was refused: %v", in, err)
			}
			return
		}
		if wrong != nil || bytes.ContainsRune(opened.Value, 0) {
			t.Fatalf("%q was unpacked to %q, but: %v", in, opened.Value, wrong)
		}
		if string(opened.Value) != want {
			t.Fatalf("%q was unpacked to %q, not %q", in, opened.Value, want)
		}
	})
}
