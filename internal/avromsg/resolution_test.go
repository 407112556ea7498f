package avromsg_test

import (
	"bytes"
	"strings"
	"testing"
)

// A value that the writer's schema gives another meaning than the reader's is converted, or
// refused where it is. Where nobody reads it, the record is read: a column of rows has both.
func TestValuesOfOtherTypes(t *testing.T) {
	named := func(typ, name, rest string) string {
		return `{"type":"` + typ + `","name":"` + name + `",` + rest + `}`
	}
	record := func(name string) string {
		return named("record", name, `"fields":[{"name":"n","type":"int"}]`)
	}
	alias := func(name string) string {
		return named("record", "x.A", `"aliases":["`+name+`"],"fields":[{"name":"n","type":"int"}]`)
	}
	enum := func(name string) string { return named("enum", name, `"symbols":["P","Q"]`) }
	fixed := func(name, size string) string { return named("fixed", name, `"size":`+size) }
	list := func(of string) string { return `{"type":"array","items":` + of + `}` }
	dict := func(of string) string { return `{"type":"map","values":` + of + `}` }
	logical := func(typ, name string) string { return `{"type":"` + typ + `","logicalType":"` + name + `"}` }
	amount := func(precision, scale string) string {
		return `{"type":"bytes","logicalType":"decimal","precision":` + precision + `,"scale":` + scale + `}`
	}
	long := func(v int64) string { return string(appendLong(nil, v)) }
	refused := func(why string) string { return `"\ud800 ` + why + `"` }
	other := func(is, not string) string { return refused("is of type " + is + ", not " + not) }
	const (
		wide    = `"\ud800 has more than the 32 bits that the schema gives it"`
		unknown = `"\ud800 has an invalid or unknown logical type in the writer's schema"`
		noWhole = `"\ud800 is a time of day that is not a whole number of the schema's unit"`
	)
	for _, c := range []struct{ name, reads, wrote, value, want string }{
		// Names.
		{"a record", record("A"), record("A"), "\x0e", `{"n":7}`},
		{"an error", named("error", "A", `"fields":[{"name":"n","type":"int"}]`), named("error", "A", `"fields":[{"name":"n","type":"int"}]`), "\x0e", `{"n":7}`},
		{"an error of another name", named("error", "A", `"fields":[{"name":"n","type":"int"}]`), named("error", "y.B", `"fields":[{"name":"n","type":"int"}]`), "\x0e", other("y.B", "A")},
		{"a record of another namespace", record("x.A"), record("y.A"), "\x0e", `{"n":7}`},
		{"a record of another name", record("A"), record("y.B"), "\x0e", other("y.B", "A")},
		{"an alias", alias("B"), record("x.B"), "\x0e", `{"n":7}`},
		{"an alias without a namespace", alias("B"), record("y.B"), "\x0e", `{"n":7}`},
		{"an alias with a namespace", alias("y.B"), record("y.B"), "\x0e", `{"n":7}`},
		{"an alias with another namespace", alias("z.B"), record("y.B"), "\x0e", other("y.B", "x.A")},
		{"a record that may be null", `["null",` + record("A") + `]`, record("B"), "\x0e", other("B", "A")},
		{"a record of two", `["null",` + record("A") + `,` + record("C") + `]`, record("y.C"), "\x0e", `{"type":"C","C":{"n":7}}`},
		{"an alias of the first of two", `["null",` + alias("B") + `,"string"]`, record("x.B"), "\x0e", `{"type":"A","A":{"n":7}}`},
		{"a text for an enum", enum("E"), `"string"`, "\x02P", `"P"`},
		{"bytes for a fixed", fixed("F", "2"), `"bytes"`, "\x04ab", `"YWI="`},
		{"a map for a text", `"string"`, dict(`"int"`), "\x00", other("map", "string")},
		{"a double", `"double"`, `"double"`, "\x00\x00\x00\x00\x00\x00\xf8?", "1.5"},
		{"a float", `"float"`, `"float"`, "\x00\x00\xc0?", "1.5"},
		{"none of two", `["null",` + record("A") + `,` + record("C") + `]`, record("y.B"), "\x0e", `{"type":"B","B":{"n":7}}`},
		{"the full name of two", `["string",` + named("record", "x.R", `"aliases":["y.S"],"fields":[]`) + `,` + named("record", "y.S", `"fields":[{"name":"n","type":"int"}]`) + `]`, named("record", "y.S", `"fields":[{"name":"n","type":"int"}]`), "\x0e", `{"type":"S","S":{"n":7}}`},
		{"another kind of the same name", `["null","string",` + record("A") + `]`, enum("A"), "\x02", `{"type":"A","A":` + other("A", "A") + `}`},
		{"a list for a map, or a number", `["int",` + dict(`"int"`) + `]`, list(`"int"`), "\x02\x0e\x00", `{"type":"array","array":[7]}`},
		{"a boolean for a null of two", `["null","int","string"]`, `"boolean"`, "\x01", `{"type":"boolean","boolean":true}`},
		{"a record in a list", list(record("A")), list(record("B")), "\x02\x0e\x00", `[` + other("B", "A") + `]`},
		{"a record in a map", dict(record("A")), dict(record("B")), "\x02\x02k\x0e\x00", `{"k":` + other("B", "A") + `}`},
		{"an enum", enum("x.E"), enum("y.E"), "\x02", `"Q"`},
		{"an enum with a default", named("enum", "E", `"symbols":["P","Q"],"default":"Q"`), enum("E"), "\x00", `"P"`},
		{"a symbol that it lacks", named("enum", "E", `"symbols":["P","Q"],"default":"Q"`), named("enum", "E", `"symbols":["P","R"]`), "\x02", `"Q"`},
		{"an enum of another name", enum("E"), enum("F"), "\x02", other("F", "E")},
		{"a fixed", fixed("x.F", "2"), fixed("y.F", "2"), "ab", `"YWI="`},
		{"a fixed of another name", fixed("F", "2"), fixed("G", "2"), "ab", other("G", "F")},
		{"a fixed of another size", fixed("F", "3"), fixed("F", "2"), "ab", other("F", "F")},
		{"a map for a record", record("A"), dict(`"int"`), "\x02\x02n\x0e\x00", other("map", "A")},
		{"a record for a map", dict(`"int"`), record("A"), "\x0e", other("A", "map")},
		{"a list for a text", `"string"`, list(`"int"`), "\x00", other("array", "string")},
		{"an int for a union's double", `["string","double"]`, `"int"`, "\x0e", `{"type":"double","double":7}`},
		{"a text for a union's bytes", `["int","bytes"]`, `"string"`, "\x02a", `{"type":"bytes","bytes":"YQ=="}`},
		// Numbers.
		{"a long for an int", `"int"`, `"long"`, long(-1 << 31), `-2147483648`},
		{"the least int", `"int"`, `"int"`, long(-1 << 31), `-2147483648`},
		{"the greatest int", `"int"`, `"int"`, long(1<<31 - 1), `2147483647`},
		{"a long of 33 bits for an int", `"int"`, `"long"`, long(1 << 31), wide},
		{"a long for a date", logical("int", "date"), `"long"`, long(1), `"1970-01-02"`},
		{"a negative long of 33 bits for an int", `"int"`, `"long"`, long(-1<<31 - 1), wide},
		{"the least int", `"int"`, `"long"`, long(-1 << 31), "-2147483648"},
		{"the largest int", `"int"`, `"long"`, long(1<<31 - 1), "2147483647"},
		{"bytes for the text of a UUID", logical("string", "uuid"), `"bytes"`, "\x200123456789abcdef", `"0123456789abcdef"`},
		{"a long of 33 bits for a date", logical("int", "date"), `"long"`, long(1 << 32), wide},
		{"a long that wraps as a date", logical("int", "date"), `"long"`, long(213503982334601 + 1), wide},
		// Units.
		{"milliseconds for microseconds", logical("long", "time-micros"), logical("int", "time-millis"), long(61001), `61001000`},
		{"the last ones", logical("long", "time-micros"), logical("int", "time-millis"), long(1<<31 - 1), `2147483647000`},
		{"microseconds for milliseconds", logical("int", "time-millis"), logical("long", "time-micros"), long(61001000), `61001`},
		{"a part of a millisecond", logical("int", "time-millis"), logical("long", "time-micros"), long(61001001), noWhole},
		{"too many of them", logical("int", "time-millis"), logical("long", "time-micros"), long(1 << 31 * 1000), wide},
		{"a time in a union", `["string",` + logical("long", "time-micros") + `]`, logical("int", "time-millis"), long(2), `{"type":"long","long":2000}`},
		{"timestamps", logical("long", "timestamp-nanos"), logical("long", "timestamp-millis"), long(1500), `"1970-01-01T00:00:01.5Z"`},
		{"nanoseconds", logical("long", "timestamp-millis"), logical("long", "timestamp-nanos"), long(-1), `"1969-12-31T23:59:59.999999999Z"`},
		{"local ones", logical("long", "local-timestamp-micros"), logical("long", "local-timestamp-millis"), long(1500), `"1970-01-01T00:00:01.5"`},
		{"a local one for one with a zone", logical("long", "timestamp-micros"), logical("long", "local-timestamp-micros"), long(0), `"1970-01-01T00:00:00"`},
		// Logical types that are ignored.
		{"a precision of 0 for bytes", `"bytes"`, amount("0", "0"), "\x02\x07", `"Bw=="`},
		{"a precision of 0 for a decimal", amount("4", "2"), amount("0", "0"), "\x02\x07", unknown},
		{"a scale that is too great", amount("4", "2"), amount("2", "3"), "\x02\x07", unknown},
		{"a scale that is negative", `"bytes"`, amount("2", "-1"), "\x02\x07", `"Bw=="`},
		{"a precision that is a text", `"bytes"`, amount(`"9"`, "0"), "\x02\x07", `"Bw=="`},
		{"no precision", amount("4", "2"), logical("bytes", "decimal"), "\x02\x07", unknown},
		{"a precision beyond the bytes", amount("4", "2"), named("fixed", "F", `"size":1,"logicalType":"decimal","precision":3`), "\x07", unknown},
		{"a decimal of a text", `"string"`, logical("string", "decimal"), "\x02a", `"a"`},
		{"an unknown one", `"long"`, logical("long", "timestamp-years"), long(50), `50`},
		{"an unknown one for a time", logical("long", "timestamp-millis"), logical("long", "timestamp-years"), long(50), unknown},
		{"a time for an unknown one", logical("long", "timestamp-years"), logical("long", "timestamp-millis"), long(50), `50`},
		{"seconds for a date", logical("int", "date"), logical("int", "time-seconds"), long(50), unknown},
		{"milliseconds of an int", logical("long", "timestamp-millis"), logical("int", "timestamp-millis"), long(1500), `"1970-01-01T00:00:01.5Z"`},
		{"microseconds of an int", logical("long", "timestamp-millis"), logical("int", "timestamp-micros"), long(1500), unknown},
		{"a big-decimal of other bytes", logical("bytes", "big-decimal"), logical("bytes", "big-decimal"), "\x02\xff", refused("is a big-decimal, which cannot be read")},
		{"a big-decimal for bytes", `"bytes"`, logical("bytes", "big-decimal"), "\x02\xff", `"/w=="`},
		// Maps and depth.
		{"a name that is there twice", dict(`"int"`), dict(`"int"`), "\x04\x02k\x02\x02k\x04\x00", refused("is a map that has a name twice")},
		{"one in two blocks", dict(`"int"`), dict(`"int"`), "\x02\x02k\x02\x01\x06\x02k\x04\x00", refused("is a map that has a name twice")},
		{"a value of 62 lists", deepList(62), deepList(62), strings.Repeat("\x02", 62) + "\x0e" + strings.Repeat("\x00", 62), strings.Repeat("[", 62) + "7" + strings.Repeat("]", 62)},
		{"a value of 64 lists", deepList(64), deepList(64), strings.Repeat("\x02", 64) + "\x0e" + strings.Repeat("\x00", 64), strings.Repeat("[", 63) + refused("is nested too deeply") + strings.Repeat("]", 63)},
	} {
		schema := func(x string) string {
			if x != "" {
				x = `{"name":"x","type":` + x + `},`
			}
			return `{"type":"record","name":"Root","fields":[` + x + `{"name":"y","type":"string"}]}`
		}
		for reads, want := range map[string]string{c.reads: `{"x":` + c.want + `,"y":"b"}`, "": `{"y":"b"}`} {
			is := typeOf(t, schema(reads), "")
			as, err := is.Written([]string{schema(c.wrote)})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			got, why, err := is.OpenWithin(nil, []byte(c.value+"\x02b"), as, 0)
			if err != nil || string(got) != want {
				t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, want)
			}
			if n := strings.Count(want, `\ud800`); len(why) != n {
				t.Errorf("%s: %d values are refused, want %d", c.name, len(why), n)
			}
		}
	}
}

func deepList(levels int) string {
	return strings.Repeat(`{"type":"array","items":`, levels) + `"int"` + strings.Repeat("}", levels)
}

// Two fields that the writer has for one field of the reader are refused, in whatever order they
// are, and if one of them is null.
func TestAliasesThatClash(t *testing.T) {
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"x","type":["null","int"],"aliases":["old"],"default":null},{"name":"y","type":"int"}]}`, "")
	for fields, value := range map[string]string{
		`{"name":"old","type":"int"},{"name":"y","type":"int"},{"name":"x","type":"int"}`: "\x02\x04\x06", `{"name":"x","type":["null","int"]},{"name":"old","type":"int"},{"name":"y","type":"int"}`: "\x00\x02\x04",
	} {
		as, err := is.Written([]string{`{"type":"record","name":"A","fields":[` + fields + `]}`})
		if err != nil {
			t.Fatal(err)
		}
		got, why, err := is.OpenWithin(nil, []byte(value), as, 0)
		if want := `{"x":"\ud800 is written by several fields, because of its aliases","y":2}`; err != nil || string(got) != want || len(why) != 1 {
			t.Errorf("%v, %v\n got %s\nwant %s", err, why, got, want)
		}
	}
}

// A logical type beside the type of a field is none, as Avro has it. It may have been meant: a
// value gets no other meaning from its reader.
func TestLogicalTypesBesideAField(t *testing.T) {
	const unknown = `{"x":"\ud800 has an invalid or unknown logical type in the writer's schema"}`
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"x","type":["null",{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}]}]}`, "")
	for beside, want := range map[string]string{
		`"type":["null","bytes"]`: `{"x":0.07}`,
		`"type":["null","bytes"],"logicalType":"decimal","precision":4,"scale":2`:                               `{"x":0.07}`,
		`"type":["null","bytes"],"logicalType":"decimal","precision":4,"scale":1`:                               unknown,
		`"type":["null","bytes"],"logicalType":"decimal"`:                                                       unknown,
		`"type":["null","bytes"],"logicalType":"money"`:                                                         unknown,
		`"type":["null",{"type":"bytes"}],"logicalType":"decimal","precision":2,"scale":3`:                      unknown,
		`"type":["null",{"type":"bytes","precision":4,"scale":2}],"logicalType":"decimal"`:                      `{"x":0.07}`,
		`"type":["null",{"type":"bytes","logicalType":"decimal","precision":4,"scale":1}],"logicalType":"date"`: `{"x":0.7}`,
	} {
		as, err := is.Written([]string{`{"type":"record","name":"A","fields":[{"name":"x",` + beside + `}]}`})
		if err != nil {
			t.Errorf("%s: %v", beside, err)
			continue
		}
		if got, err := is.Open(nil, []byte("\x02\x02\x07"), as); err != nil || string(got) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", beside, err, got, want)
		}
	}
	for fields, value := range map[string]string{
		`{"name":"x","type":["bytes","null"],"logicalType":"money"}`:                                        "\x00\x02\x07",
		`{"name":"x","type":["null","bytes"],"logicalType":"money"},{"name":"z","type":"int"}`:              "\x02\x02\x07\x02",
		`{"name":"z","type":"int"},{"name":"x","type":["null","bytes"],"logicalType":"money"}`:              "\x02\x02\x02\x07",
		`{"name":"x","type":[{"type":"bytes","logicalType":"money"},"null",{"type":"map","values":"int"}]}`: "\x00\x02\x07",
	} {
		as, err := is.Written([]string{`{"type":"record","name":"A","fields":[` + fields + `]}`})
		if err != nil {
			t.Errorf("%s: %v", fields, err)
			continue
		}
		if got, err := is.Open(nil, []byte(value), as); err != nil || string(got) != unknown {
			t.Errorf("%s: %v\n got %s\nwant %s", fields, err, got, unknown)
		}
	}
}

// A schema may hold itself: a value that nobody reads nests as deep as 1000 levels, and a reason
// names only the first fields. Items without bytes are counted.
func TestValuesThatNest(t *testing.T) {
	const node = `{"type":"record","name":"N","fields":[{"name":"next","type":["null","N"]}]}`
	is := typeOf(t, `{"type":"record","name":"A","fields":[{"name":"y","type":"int"}]}`, "")
	as, err := is.Written([]string{`{"type":"record","name":"A","fields":[{"name":"x","type":` + node + `},{"name":"e","type":{"type":"array","items":"null"}},{"name":"y","type":"int"}]}`})
	if err != nil {
		t.Fatal(err)
	}
	next := func(n int) string { return strings.Repeat("\x02", n) }
	path := "it is not a valid A, at x." + strings.Repeat("next.", 19)
	for value, want := range map[string]string{
		next(400) + "\x00\x00\x0e":  `{"y":7}`,
		next(5000) + "\x00\x00\x0e": path + "next...: it is nested too deeply",
		next(400):                   path + "next...",
		next(2):                     "it is not a valid A, at x.next.next.next",
		"\x00" + string(appendLong(nil, 1<<16)) + "\x00\x0e":                  `{"y":7}`,
		"\x00" + string(appendLong(nil, 1<<40)) + "\x00\x0e":                  "it is not a valid A, at e: it has too many items without bytes",
		"\x00" + string(bytes.Repeat(appendLong(nil, 1<<15), 3)) + "\x00\x0e": "it is not a valid A, at e: it has too many items without bytes",
	} {
		got, err := is.Open(nil, []byte(value), as)
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%d bytes:\n got %s\nwant %s", len(value), got, want)
		}
	}
	const inMaps = `{"type":"record","name":"A","fields":[{"name":"x","type":{"type":"map","values":{"type":"map","values":{"type":"array","items":"null"}}}}]}`
	maps := typeOf(t, inMaps, "")
	if as, err = maps.Written([]string{inMaps}); err != nil {
		t.Fatal(err)
	}
	nulls := "\x02\x02a\x02\x02b" + string(appendLong(nil, 40_000)) + "\x00\x00\x00" // a map is read twice: its items count once
	if got, err := maps.Open(nil, []byte(nulls), as); err != nil || strings.Count(string(got), "null") != 40_000 {
		t.Errorf("items in maps: %d bytes, %v", len(got), err)
	}
}
