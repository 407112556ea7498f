package gocode_test

import (
	"fmt"
	"strings"
	"testing"
)

// The default of a field is a Go value of its type, in every notation.
func TestDefaultsOfFields(t *testing.T) {
	var fields, columns strings.Builder
	all := []struct{ typ, text, column, want string }{
		{"string", `'a"b'`, "text", `"a\"b"`}, {"Size", "large", "text", "SizeLarge"}, {"bool", "true", "boolean", "true"}, {"int32", "'-7'", "integer", "-7"}, {"int64", "'9223372036854775807'", "bigint", "9223372036854775807"},
		{"float64", "'1.5e3'", "double precision", "1.5e3"}, {"decimal", "'12.50'", "numeric", `wire.MustDecimal("12.50")`},
		{"uuid", "7D3F6A52-0c1e-4b7e-9a53-5b0f4a1f6c01", "uuid", "idem.UUID{0x7d, 0x3f, 0x6a, 0x52, 0x0c, 0x1e, 0x4b, 0x7e, 0x9a, 0x53, 0x5b, 0x0f, 0x4a, 0x1f, 0x6c, 0x01}"},
		{"bytes", "'AAEC/w=='", "bytea", `[]byte("\x00\x01\x02\xff")`}, {"json", `'{"a": 1}'`, "jsonb", `json.RawMessage("{\"a\": 1}")`},
		{"timestamp", "'2026-01-31T12:30:45.1234567+02:00'", "timestamptz", "time.Date(2026, 1, 31, 10, 30, 45, 123456000, time.UTC)"},
		{"timestamp", "'9999-12-31T23:59:59Z'", "timestamptz", "time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)"}, {"timestamp", "'0000-01-01T00:00:00Z'", "timestamptz", "time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)"},
		{"local_timestamp", "'1970-01-02T00:00:00.5'", "timestamp", "idem.LocalTime(86400500000)"}, {"local_timestamp_array", "'1969-12-31T23:59:59'", "timestamp", "idem.LocalTime(-1000000)"},
		{"date", "'1970-01-03'", "date", "idem.Date(2)"}, {"date", "'1969-12-30'", "date", "idem.Date(-2)"}, {"epoch_days", "'-3'", "date", "idem.Date(-3)"}, {"date_array", "'1970-01-05'", "date", "idem.Date(4)"},
		{"epoch_s", "'1772355601'", "timestamptz", "time.Date(2026, 3, 1, 9, 0, 1, 0, time.UTC)"}, {"epoch_ms", "'1772355602001'", "timestamptz", "time.Date(2026, 3, 1, 9, 0, 2, 1000000, time.UTC)"},
		{"epoch_us", "'1772355603000001'", "timestamptz", "time.Date(2026, 3, 1, 9, 0, 3, 1000, time.UTC)"}, {"epoch_ns", "'1772355604000001999'", "timestamptz", "time.Date(2026, 3, 1, 9, 0, 4, 1000, time.UTC)"},
	}
	for i, c := range all {
		fmt.Fprintf(&fields, "          f%d: {type: %s, default: %s}\n", i, c.typ, c.text)
		fmt.Fprintf(&columns, "      f%d: %s\n", i, c.column)
	}
	spec := "version: 1\nconsumer: c\npackage: p\ntypes: {Size: {enum: [small, large]}}\ntables:\n  t:\n    primary_key: [id]\n    columns:\n      id: uuid\n" + columns.String() +
		"topics:\n  t.v1:\n    idempotency_key: {source: id, window: 8d}\n    events:\n      E:\n        fields:\n          id: uuid\n" + fields.String() + "        write: [{insert: t}]\n"
	var code strings.Builder
	for _, f := range render(t, load(t, spec)) {
		code.Write(f.Content)
	}
	values := map[string]string{} // of the literal that the decoder begins with
	for line := range strings.Lines(code.String()) {
		if field, value, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ","), ":"); ok && values[field] == "" {
			values[field] = strings.TrimSpace(value)
		}
	}
	for i, c := range all {
		if got := values[fmt.Sprintf("F%d", i)]; got != c.want {
			t.Errorf("%s %s: %s, want %s", c.typ, c.text, got, c.want)
		}
	}
}

// A step for each of a list names only what it uses: the element, its position, both or neither.
func TestWhatALoopNames(t *testing.T) {
	for values, want := range map[string]string{
		"tag: each, n: {each: position}": "for i, v := range e.Tags {", "tag: each, n: {value: 1}": "for _, v := range e.Tags {",
		"tag: {value: a}, n: {each: position}": "for i := range e.Tags {",
	} {
		spec := "version: 1\nconsumer: c\npackage: p\ntables:\n  t: {primary_key: [id, tag, n], columns: {id: uuid, tag: text, n: integer}}\n" +
			"topics:\n  t.v1:\n    idempotency_key: {source: id, window: 8d}\n    events:\n      E:\n        fields: {id: uuid, tags: list(string)}\n" +
			"        write: [{insert: t, each: tags, set: {id: id, " + values + "}}]\n"
		var code strings.Builder
		for _, f := range render(t, load(t, spec)) {
			code.Write(f.Content)
		}
		if !strings.Contains(code.String(), want) || !strings.Contains(want, "v") && strings.Contains(code.String(), "v := range e.Tags") {
			t.Errorf("%s: the code lacks %s, or names more", values, want)
		}
	}
}
