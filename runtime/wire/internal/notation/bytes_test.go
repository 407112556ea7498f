package notation

import (
	"testing"
)

// TestBytesAreReadAsTheyAreWritten: one value has one text, but for the case of hexadecimal digits
// and the padding of base64 in URLs.
func TestBytesAreReadAsTheyAreWritten(t *testing.T) {
	type read func(arena, raw []byte) (data, grown []byte, reason string)
	for _, c := range []struct {
		read       read
		text, want string
		ok         bool
	}{
		{Bytes, "+/8=", "\xfb\xff", true}, {Bytes, "+/8", "", false}, {Bytes, "-_8=", "", false}, {Bytes, "", "", true},
		{Base64URL, "-_8=", "\xfb\xff", true}, {Base64URL, "-_8", "\xfb\xff", true}, {Base64URL, "+/8=", "", false},
		{Base64URL, "AA==", "\x00", true}, {Base64URL, "AA=", "", false}, {Base64URL, "AA===", "", false}, {Base64URL, "A", "", false},
		{Base64URL, "-_9", "", false}, {Base64URL, "AA\nAA", "", false}, {Base64URL, "", "", true}, {Base64URL, "=", "", false}, {Base64URL, "====", "", false},
		{Hex, "00fF", "\x00\xff", true}, {Hex, "0", "", false}, {Hex, "0x00", "", false}, {Hex, "0g", "", false}, {Hex, "", "", true},
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
