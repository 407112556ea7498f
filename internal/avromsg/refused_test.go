package avromsg_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// A value that cannot be read does not fail the record, since nobody may read it: a text that no
// field accepts takes its place, with the reason, and the rest is as it would be.
func TestValuesThatCannotBeRead(t *testing.T) {
	const amount = `{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`
	for name, c := range map[string]struct {
		typ, value, why string
		name            bool // of a map
	}{
		"a text":                {`"string"`, "\x04a\xff", "is not valid UTF-8", false},
		"bytes read as a text":  {`["null","string"]`, "\x02\x02\xff", "is not valid UTF-8", false},
		"a text of a list":      {`{"type":"array","items":"string"}`, "\x02\x02\xff\x00", "is not valid UTF-8", false},
		"a text of a map":       {`{"type":"map","values":"string"}`, "\x02\x02k\x02\xff\x00", "is not valid UTF-8", false},
		"a name of a map":       {`{"type":"map","values":"string"}`, "\x02\x02\xff\x02v\x00", "holds a name that is not valid UTF-8", true},
		"a text of a union":     {`["int","string"]`, "\x02\x02\xff", "is not valid UTF-8", false},
		"a decimal of no bytes": {amount, "\x00", "is a decimal without bytes", false},
		"a type of the future":  {`{"type":"bytes","logicalType":"big-decimal"}`, "\x06\x02\x05\x02", "is a big-decimal, which cannot be read", false},
		"one that may be null":  {`["null",` + amount + `]`, "\x02\x00", "is a decimal without bytes", false},
	} {
		schema := `{"type":"record","name":"A","fields":[{"name":"x","type":` + c.typ + `},{"name":"y","type":"string"}]}`
		is := typeOf(t, schema, "")
		text, why, err := is.OpenWithin([]byte("__"), []byte(c.value+"\x02b"), is.Own(), 0)
		var members struct{ Y string }
		if err != nil || json.Unmarshal(text[2:], &members) != nil || members.Y != "b" {
			t.Fatalf("%s: %s, %v", name, text, err)
		}
		for at := range maps.Keys(why) {
			if rest, is := strings.CutPrefix(string(text[2+at:]), `"\ud800 `+c.why+`"`); !is || strings.HasPrefix(rest, ":") != c.name {
				t.Errorf("%s: %s at %d of %s", name, why[at], at, text)
			}
		}
		if len(why) != 1 {
			t.Errorf("%s: %v for %s", name, why, text)
		}
	}
}

// A boolean is one of two bytes, wherever it is.
func TestBooleansAreZeroOrOne(t *testing.T) {
	is := typeOf(t, `{"type":"record","name":"A","fields":[
		{"name":"n","type":["null","long"]},{"name":"s","type":"string"},{"name":"f","type":"float"},{"name":"d","type":"double"},
		{"name":"e","type":{"type":"enum","name":"E","symbols":["P","Q"]}},{"name":"x","type":{"type":"fixed","name":"X","size":2}},
		{"name":"m","type":{"type":"map","values":{"type":"array","items":["null","boolean",{"type":"record","name":"R","fields":[{"name":"b","type":"boolean"}]}]}}},
		{"name":"last","type":"boolean"}]}`, "")
	const head = "\x02\x8e\x02" + "\x04hi" + "ffff" + "dddddddd" + "\x02" + "xx"
	m := func(one, two, last string) string {
		return head + "\x02\x02k" + "\x04\x02" + one + "\x00" + "\x01\x04\x04" + two + "\x00" + "\x00" + last
	}
	for value, want := range map[string]string{
		m("\x00", "\x01", "\x01"):                    `{"n":135,"s":"hi","f":`,
		m("\x07", "\x01", "\x01"):                    "it is not a valid A, at m: a boolean is neither 0 nor 1",
		m("\x01", "\x02", "\x01"):                    "it is not a valid A, at m.b: a boolean is neither 0 nor 1",
		m("\x01", "\x01", "\xff"):                    "it is not a valid A, at last: a boolean is neither 0 nor 1",
		strings.Repeat("\x00", len(m("", "", ""))+9): "it has bytes after the A",
	} {
		text, err := is.Open(nil, []byte(value), is.Own())
		if err != nil {
			text = []byte(err.Error())
		}
		if !strings.HasPrefix(string(text), want) {
			t.Errorf("%q: %s, want %s", value, text, want)
		}
	}
}

// NaN is a text for json, and no number: the reason says so.
func TestWhatIsNoNumber(t *testing.T) {
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"x","type":"double"},{"name":"y","type":"float"}]}`, "")
	text, why, err := is.OpenWithin(nil, []byte("\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x80\xff"), is.Own(), 0)
	const want = "is NaN or infinity, which the type does not have"
	if err != nil || string(text) != `{"x":"NaN","y":"-Inf"}` || why[5] != want || why[15] != want || len(why) != 2 {
		t.Errorf("%s, %v, %v", text, why, err)
	}
}

// Bytes that are cut off within a map, or an int of more than 32 bits, are no value, whether the
// field is read or passed over.
func TestMapsAndIntsThatAreMalformed(t *testing.T) {
	const wrote = `{"type":"record","name":"A","fields":[{"name":"m","type":{"type":"map","values":"int"}},{"name":"n","type":"int"}]}`
	for _, reads := range []string{wrote, `{"type":"record","name":"A","fields":[]}`} {
		is := typeOf(t, reads, "")
		as, err := is.Written([]string{wrote})
		if err != nil {
			t.Fatal(err)
		}
		for value, at := range map[string]string{
			"\x02\x7f": "m", "\x02\x04k": "m", "\x02\x02k": "m", "\x02\x02k\x0e": "m", "\x00": "n",
			"\x00" + string(appendLong(nil, -1<<31-1)): "n", "\x00" + string(appendLong(nil, 1<<31)): "n", "\x00" + string(appendLong(nil, -1<<31)): "", "\x00" + string(appendLong(nil, 1<<31-1)): "",
		} {
			_, err := is.Open(nil, []byte(value), as)
			if (err == nil) != (at == "") || err != nil && err.Error() != "it is not a valid A, at "+at {
				t.Errorf("%q: %v, want at %q", value, err, at)
			}
		}
	}
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"a","type":"int","default":7},{"name":"b","type":"int"}]}`, "")
	value, err := is.Pack([]byte(`{}`))
	if got, err2 := is.Open(nil, value, is.Own()); err != nil || err2 != nil || string(got) != `{"a":7,"b":0}` {
		t.Errorf("a default is packed as %s, %v, %v", got, err, err2)
	}
}
