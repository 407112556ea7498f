package notation

import (
	"testing"
)

// TestBytesAreReadAsTheyAreWritten: one value has one text.
func TestBytesAreReadAsTheyAreWritten(t *testing.T) {
	type read func(arena, raw []byte) (data, grown []byte, reason string)
	for _, c := range []struct {
		read       read
		text, want string
		ok         bool
	}{
		{Bytes, "+/8=", "\xfb\xff", true}, {Bytes, "+/8", "", false}, {Bytes, "-_8=", "", false}, {Bytes, "", "", true},
	} {
		data, _, reason := c.read(nil, []byte(c.text))
		if (reason == "") != c.ok || string(data) != c.want {
			t.Errorf("%q is %q (%s)", c.text, data, reason)
		}
		if c.ok && data == nil {
			t.Errorf("%q is nil", c.text)
		}
	}
}
