package avromsg_test

import (
	"bytes"
	"strings"
	"testing"
)

// A decimal is never read as another number: one that is too large is refused.
func TestDecimalThatIsTooLarge(t *testing.T) {
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"x","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}}]}`, "")
	for _, size := range []int{1, 16 << 10, 16<<10 + 1, 32 << 10, 32<<10 + 1, 1 << 20} {
		value := appendLong(nil, int64(size))
		value = append(value, bytes.Repeat([]byte{1}, size)...)
		text, why, err := is.OpenWithin(nil, value, is.Own(), 0)
		if size > 16<<10 {
			if err != nil || why[len(`{"x":`)] != "is a decimal that is too large" {
				t.Errorf("%d bytes: %.40s, %v, %v", size, text, why, err)
			}
		} else if err != nil || bytes.Contains(text, []byte(`:0.00}`)) {
			t.Errorf("%d bytes: %.40s, %v", size, text, err)
		}
	}
}

// What a value becomes is limited while it grows, also by a symbol that only its writer's schema
// has.
func TestJSONOfAValueIsLimited(t *testing.T) {
	symbol := strings.Repeat("S", 2000)
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"x","type":{"type":"array","items":{"type":"enum","name":"E","symbols":["`+symbol+`"]}}}]}`, "")
	value := append(appendLong(nil, 1<<19), bytes.Repeat([]byte{0}, 1<<19+1)...)
	if out, _, err := is.OpenWithin(nil, value, is.Own(), 1<<20); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes of JSON (limits.max_payload)") || out != nil {
		t.Errorf("got %d bytes, %v", len(out), err)
	}
	value = append(appendLong(nil, 10), bytes.Repeat([]byte{0}, 11)...)
	if out, _, err := is.OpenWithin(nil, value, is.Own(), 1<<20); err != nil || len(out) < 20_000 {
		t.Errorf("ten symbols: %d bytes, %v", len(out), err)
	}
}

// Defaults that a value lacks count, too.
func TestDefaultsAreLimited(t *testing.T) {
	long := strings.Repeat("x", 100)
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"a","type":"string","default":"`+long+`"},{"name":"b","type":"int","default":7}]}`, "")
	as, err := is.Written([]string{`{"type":"record","name":"A","fields":[]}`})
	if err != nil {
		t.Fatal(err)
	}
	whole := `{"a":"` + long + `","b":7}`
	for _, most := range []int{50, len(whole) - 1, len(whole)} {
		out, _, err := is.OpenWithin(nil, nil, as, most)
		if most < len(whole) && (err == nil || out != nil || !strings.Contains(err.Error(), "bytes of JSON")) || most == len(whole) && (err != nil || string(out) != whole) {
			t.Errorf("at most %d bytes: %s, %v", most, out, err)
		}
	}
}

// Values of a map count, too.
func TestMapsAreLimited(t *testing.T) {
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"m","type":{"type":"map","values":"string"}}]}`, "")
	whole := `{"m":{"k":"` + strings.Repeat("x", 50) + `","l":"y"}}`
	value, err := is.Pack([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{30, len(whole) - 1, len(whole)} {
		if out, _, err := is.OpenWithin(nil, value, is.Own(), most); (err == nil) != (most == len(whole)) || err == nil && string(out) != whole {
			t.Errorf("at most %d bytes: %s, %v", most, out, err)
		}
	}
}

// appendLong is a long as Avro has it.
func appendLong(b []byte, n int64) []byte {
	for u := uint64(n<<1) ^ uint64(n>>63); ; u >>= 7 {
		if u < 0x80 {
			return append(b, byte(u))
		}
		b = append(b, byte(u)|0x80)
	}
}
