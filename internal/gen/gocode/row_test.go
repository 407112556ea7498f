package gocode_test

import (
	"strings"
	"testing"
)

// Steps of a topic name a row alike: a UUID in a column of text is named as a text if other steps
// name the row by one, else by its bytes.
func TestARowHasOneName(t *testing.T) {
	for other, asText := range map[string]bool{
		"fields: {n: int32}, write: [{upsert: t, set: {ref: {value: 0b5a4e2e-0000-4000-8000-000000000001}, n: n}, if_newer: n}]": true,
		"fields: {ref: string, n: int32}, write: [{upsert: t, if_newer: n}]":                                                     true,
		"fields: {ref: uuid, n: int32}, write: [{upsert: t, if_newer: n}]":                                                       false,
	} {
		spec := "version: 1\nconsumer: c\npackage: p\ntables:\n  t: {primary_key: [ref], columns: {ref: text, n: integer}}\n" +
			"topics:\n  t.v1:\n    event_type: {header: type}\n    idempotency_key: {source: {header: key}, window: 8d}\n    events:\n" +
			"      E: {type: e, fields: {ref: uuid, n: int32}, write: [{upsert: t, if_newer: n}]}\n      Other: {type: o, " + other + "}\n"
		var code strings.Builder
		for _, f := range render(t, load(t, spec)) {
			code.Write(f.Content)
		}
		want := map[bool]string{true: `wire.Row("t").Text(e.Ref.String())`, false: `wire.Row("t").UUID(e.Ref)`}[asText]
		if !strings.Contains(code.String(), want) {
			t.Errorf("beside %s: the code lacks %s", other, want)
		}
	}
}
