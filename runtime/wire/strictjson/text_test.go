package strictjson

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// A header is read as one JSON value; one that is not there is no value, and no fault.
func TestJSONText(t *testing.T) {
	const spoilt = "header h: "
	for header, want := range map[string]string{
		`{"a": [1, "x"]}`: `{"a": [1, "x"]}`, ` 7 `: `7`, `"x"`: `"x"`,
		`null`: spoilt + "must not be null", `{"a": 1`: spoilt + "ends too early", `1 2`: spoilt + "has data after its end", ``: spoilt + "is empty",
	} {
		var s Scanner
		m := &wire.Message{Headers: []wire.Header{{Name: "h", Value: []byte(header)}}}
		s.Borrow(m)
		got := string(JSONText(s.Header(m, "h")))
		if err := s.Failure(); err != nil {
			got = err.Path + ": " + err.Reason
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
		if v := JSONText(s.Header(m, "other")); v != nil {
			t.Errorf("a header that is not there is %q", v)
		}
	}
}
