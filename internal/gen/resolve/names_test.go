package resolve

import (
	"strings"
	"testing"
)

// TestGivenNames: names of types and events stand as they are; those of fields follow Go.
func TestGivenNames(t *testing.T) {
	const spec = `version: 1
consumer: c
package: c
types:
  ABC: {fields: {x_id: string, y_url: string}}
topics:
  t:
    idempotency_key: {source: {header: k}, window: 1d}
    event_type: {header: type}
    events:
      OK: {type: a, fields: {abc: ABC}, handle: true}
      Odd: {type: b, handle: true}
`
	s := accept(t, "s", []byte(spec))
	got := []string{s.Types[0].GoName, s.Types[0].Fields[0].GoName, s.Types[0].Fields[1].GoName, s.Topics[0].Events[0].GoName, s.Topics[0].Events[1].GoName}
	if want := "ABC XID YURL OK Odd"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

// TestNamesOfStepsDoNotDependOnOtherEvents: event, verb and table name a step; only the
// steps of one event that have all three in common get numbers.
func TestNamesOfStepsDoNotDependOnOtherEvents(t *testing.T) {
	tables := "  orders: {primary_key: [id], columns: {id: uuid, a: text, b: text}}\n  orders_e1: {primary_key: [id], columns: {id: uuid, a: text}}\n"
	one := `
      E1: {type: e1, fields: {a: string}, write: [{update: orders, set: {a: a}}, {update: orders, set: {b: a}}, {update: orders_e1, set: {a: a}}]}
`
	two := one + `      E2: {type: e2, fields: {a: string}, write: [{update: orders, set: {a: a}}, {delete: orders}]}
`
	for spec, want := range map[string]string{
		one: "E1UpdateOrders E1UpdateOrders2 E1UpdateOrdersE1",
		two: "E1UpdateOrders E1UpdateOrders2 E1UpdateOrdersE1 E2UpdateOrders E2DeleteOrders",
	} {
		var got []string
		for _, e := range accept(t, "names", []byte(graph(tables, spec))).Topics[0].Events {
			for _, st := range e.Steps {
				got = append(got, st.GoName)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("got %s, want %s", strings.Join(got, " "), want)
		}
	}
}

// TestCleanText: no description can end a line comment, or hold what a source file may not.
func TestCleanText(t *testing.T) {
	for text, want := range map[string]string{
		"one\r\ntwo\rthree\u2028four\vfive\u0085six": "one\ntwo\nthree\nfour\nfive\nsix",
		"\n\n  indented  \n\n":                       "  indented",
		"a\tb\t":                                     "a    b",
		"nul\x00 bom\ufeff esc\x1b[0m":               "nul bom esc[0m",
		"a `back` */ /* -- quote":                    "a `back` */ /* -- quote",
	} {
		if got := cleanText(text); got != want {
			t.Errorf("cleanText(%q) = %q, want %q", text, got, want)
		}
	}
}
