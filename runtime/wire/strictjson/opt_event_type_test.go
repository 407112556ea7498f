package strictjson

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// The text is one, or the digits of a whole number; where there is none it is "".
func TestOptEventType(t *testing.T) {
	for _, c := range []struct {
		in   string
		path []string
		want string
	}{
		{`{"version":"1.0"}`, []string{"version"}, "1.0"},
		{`{"version":"\u0032"}`, []string{"version"}, "2"},
		{`{"version":2}`, []string{"version"}, "2"},
		{`{"version":007}`, []string{"version"}, "decode: version must be a number (at byte 11)"},
		{`{"version":2.0}`, []string{"version"}, "decode: version must be a string or a whole number (at byte 11)"},
		{`{"version":-1}`, []string{"version"}, "decode: version must be a string or a whole number (at byte 11)"},
		{`{"version":1e2}`, []string{"version"}, "decode: version must be a string or a whole number (at byte 11)"},
		{`{"version":true}`, []string{"version"}, "decode: version must be a string (at byte 11)"},
		{`{"version":{}}`, []string{"version"}, "decode: version must be a string (at byte 11)"},
		{`{"version":null}`, []string{"version"}, ""},
		{`{"version":""}`, []string{"version"}, ""},
		{`{}`, []string{"version"}, ""},
		{`{"meta":null}`, []string{"meta", "version"}, ""},
		{`{"meta":{}}`, []string{"meta", "version"}, ""},
		{`{"meta":[]}`, []string{"meta", "version"}, "decode: meta must be an object (at byte 8)"},
		{`{"meta":{"x":[1],"version":3},"version":1}`, []string{"meta", "version"}, "3"},
		{`{"version":1,"version":2}`, []string{"version"}, "decode: version occurs twice (at byte 23)"},
		{`{"version":1`, []string{"version"}, "decode: the payload ends too early (at byte 12)"},
	} {
		var s Scanner
		got, err := s.OptEventType(&wire.Message{Value: []byte(c.in)}, c.path...)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}
