package handler

import (
	sqldriver "database/sql/driver"
	"reflect"
	"testing"
)

type encoded struct{ text string }

func (e encoded) Value() (sqldriver.Value, error) { return e.text, nil }

// An argument counts with all that it consists of, however deep, and not with what it only refers
// to. A value that contains itself counts up to a depth.
func TestArgumentCountsWithItsParts(t *testing.T) {
	t.Parallel()
	text, number := "abc", 7
	pointer := &text
	type part struct {
		Text    string
		Number  int
		Map     map[string]string
		Any     any
		Pointer *string
	}
	ring := []any{nil}
	ring[0] = ring
	const s, p, i, l, m = 16, 8, 16, 24, 8 // sizes of a string, a pointer, an interface, a slice and a map
	for name, test := range map[string]struct {
		arg  any
		want int
	}{
		"nothing":                      {nil, 0},
		"a number":                     {number, 8},
		"a text":                       {text, s + 3},
		"a pointer to a text":          {pointer, p + s + 3},
		"a pointer to that":            {&pointer, p + p + s + 3},
		"no pointer":                   {(*string)(nil), p},
		"bytes":                        {[]byte(text), l + 3},
		"numbers":                      {[]int32{1, 2}, l + 8},
		"complex numbers":              {[]complex128{1, 2}, l + 32},
		"texts":                        {[]string{"ab", text}, l + s + 2 + s + 3},
		"an array of texts":            {[2]string{"ab", text}, 2*s + 5},
		"a map":                        {map[string]string{"ab": text}, m + s + 2 + s + 3},
		"values of any type":           {[]any{text, nil, number}, l + i + s + 3 + i + i + 8},
		"a struct":                     {part{text, 1, map[string]string{"ab": text}, text, pointer}, s + 8 + m + i + p + 3 + s + 3},
		"structs":                      {[]part{{Text: text}}, l + s + 8 + m + i + p + 3},
		"a pointer to a struct":        {&part{Text: text}, p},
		"a pointer to a map":           {&map[string]string{"ab": text}, p},
		"a pointer to any value":       {new(any), p},
		"a value that encodes itself":  {encoded{text}, s},
		"a value that contains itself": {ring, 6 * (l + i)},
	} {
		if test.arg == nil {
			if got := occupied(reflect.Value{}, 0); got != 0 {
				t.Errorf("%s occupies %d bytes", name, got)
			}
			continue
		}
		if got := occupied(reflect.ValueOf(test.arg), 0); got != test.want {
			t.Errorf("%s occupies %d bytes, want %d", name, got, test.want)
		}
	}
}
