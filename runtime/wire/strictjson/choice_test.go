package strictjson

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// TestTheFirstMemberThatIsThereCounts: in the order of the ranks, wherever the members stand.
func TestTheFirstMemberThatIsThereCounts(t *testing.T) {
	for _, c := range []struct{ text, want, fail string }{
		{`{"a":"1","b":"2"}`, "1", ""},
		{`{"b":"2","a":"1"}`, "1", ""},
		{`{"b":"2","x":[1,{"a":"no"}]}`, "2", ""},
		{`{"b":{"a":[1]},"a":"1"}`, "1", ""},
		{`{"x":1}`, "", "decode: E: a is missing (at byte 6)"},
		{`{"b":2}`, "", "decode: E: b must be a string (at byte 5)"},
		{`{"a":null,"b":"2"}`, "", "decode: E: a must not be null (at byte 5)"},
		{`{"b":[1,],"a":"1"}`, "", "decode: E: b is not valid JSON (at byte 8)"},
		{`{"b":"2"} 7`, "", "decode: E: the payload has data after its end (at byte 10)"},
		{`{"b":"2"`, "", "decode: E: the payload ends too early (at byte 8)"},
	} {
		m := wire.Message{Value: []byte(c.text)}
		var s Scanner
		s.Borrow(&m)
		var first Choice
		for s.Object(); s.Member(); {
			switch s.Name() {
			case "a":
				Offer(&s, &first, 1)
			case "b":
				Offer(&s, &first, 2)
			default:
				s.Skip()
			}
		}
		got := ""
		for Take(&s, &first, "a") {
			got = s.String()
		}
		err := s.Finish("E")
		if c.fail == "" && (err != nil || got != c.want) || c.fail != "" && (err == nil || err.Error() != c.fail) {
			t.Errorf("%s is %q (%v), not %q (%s)", c.text, got, err, c.want, c.fail)
		}
	}
}

// TestAPatchOfSeveralMembersIsTheFirstThatIsThere: null and the marker of absent values are there.
func TestAPatchOfSeveralMembersIsTheFirstThatIsThere(t *testing.T) {
	for text, want := range map[string]wire.Patch[string]{
		`{"a":"1","b":"2"}`:      {State: wire.PatchValue, Value: "1"},
		`{"b":"2"}`:              {State: wire.PatchValue, Value: "2"},
		`{"b":"2","a":null}`:     {State: wire.PatchNull},
		`{"b":"2","a":"__none"}`: {},
		`{"b":"__none"}`:         {},
		`{"x":"2"}`:              {},
	} {
		m := wire.Message{Value: []byte(text)}
		s := Scanner{AbsentMarker: "__none"}
		s.Borrow(&m)
		var first Choice
		for s.Object(); s.Member(); {
			switch s.Name() {
			case "a":
				Offer(&s, &first, 1)
			case "b":
				Offer(&s, &first, 2)
			default:
				s.Skip()
			}
		}
		var got wire.Patch[string]
		for Take(&s, &first, "") {
			got = OptPatch(&s, s.String)
		}
		if err := s.Finish("E"); err != nil || got != want {
			t.Errorf("%s is %+v (%v), not %+v", text, got, err, want)
		}
	}
}
