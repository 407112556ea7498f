package strictjson

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// TestAnUnknownMemberIsNamedByItsPath: nothing of its value is told, and no more of its name than
// fits into a line.
func TestAnUnknownMemberIsNamedByItsPath(t *testing.T) {
	long := "0123456789012345678901234567890123456789012345678901234567890123"
	for _, c := range []struct{ text, want string }{
		{`{"type":{"x":1},"in":{"a":1}}`, ""},
		{`{"b":"secret"}`, "decode: E: b is not declared (at byte 5)"},
		{`{"in":{"a":1,"b":{"c":"secret"}}}`, "decode: E: in.b is not declared (at byte 17)"},
		{`{"in":{"b":[1,}}`, "decode: E: in is not valid JSON (at byte 14)"},
		{`{"":1}`, `decode: E: "" is not declared (at byte 4)`},
		{`{"a\u0000\ud800\n\"\u00e4":1}`, `decode: E: a\x00\ufffd\n\"\u00e4 is not declared (at byte 27)`},
		{`{"` + long + `56789":1}`, "decode: E: " + long + " is not declared (at byte 73)"},
		{`{"b":`, "decode: E: the payload ends too early (at byte 5)"},
	} {
		m := wire.Message{Value: []byte(c.text), Key: []byte(`{"id":1,"other":2}`)}
		s := Scanner{RefuseUnknown: true}
		s.Borrow(&m)
		for s.Object(); s.Member(); {
			switch s.Name() {
			case "type":
				Known(&s)
			case "in":
				for s.Object(); s.Member(); {
					if s.Name() == "a" {
						s.Int64()
					} else {
						s.Skip()
					}
				}
			default:
				s.Skip()
			}
		}
		s.NextKey(&m) // the record key may hold more
		for s.Object(); s.Member(); {
			s.Skip()
		}
		got := ""
		if err := s.Finish("E"); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s is refused with\n%s, not\n%s", c.text, got, c.want)
		}
	}
}
