package frame

import "testing"

// A prefix that was written is read, and what is shorter or begins otherwise has none.
func TestAPrefixIsThereOrNot(t *testing.T) {
	value := append(Append(nil, 0x01020304), "rest"...)
	if string(value) != "\x00\x01\x02\x03\x04rest" {
		t.Errorf("written: %q", value)
	}
	if number, rest, err := Split(value); err != nil || number != 0x01020304 || string(rest) != "rest" {
		t.Errorf("%x, %q, %v", number, rest, err)
	}
	for _, bad := range []string{"", "\x00\x00\x00\x00", "\x01\x00\x00\x00\x00x", `{"a":1}`} {
		if _, _, err := Split([]byte(bad)); err != ErrNone {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
