package resolve

import (
	"fmt"
	"strings"
	"testing"
)

// An event that passes without its row is refused where it may come before the event that makes
// the row: in another topic, without an order, or of another record key. It is accepted if the
// event makes the row itself, or if no step of the spec makes rows.
func TestEventsBeforeTheirRows(t *testing.T) {
	const spec = `version: 1
consumer: c
package: p
tables:
  rows: {primary_key: [k], columns: {k: text, flag: nullable boolean, n: {type: bigint, default: 0}}}
  pairs: {primary_key: [k, l], columns: {k: text, l: text, flag: nullable boolean}}
topics:
  a.v1:
    record_key: {k: string}
    %[1]sevent_type: {header: type}
    idempotency_key: {source: {header: id}, window: 8d}
    events:
      Made: {type: made, fields: {o: string}, %[2]shandle: true}
      Changed: {type: changed, fields: {o: string}, %[3]shandle: true}
  b.v1:
    record_key: {k: string}
    assume: [ordered]
    idempotency_key: {source: {header: id}, window: 8d}
    events:
      There: {fields: {o: string}, %[4]shandle: true}
`
	const (
		ordered  = "assume: [ordered]\n    "
		insert   = "{insert: rows, set: {k: k}, leave: [flag, n], if_exists: skip}"
		ofOther  = "{insert: rows, set: {k: o}, leave: [flag, n], if_exists: skip}"
		ofX      = "{insert: rows, set: {k: {value: x}}, leave: [flag, n], if_exists: skip}"
		ofY      = "{insert: rows, set: {k: {value: y}}, leave: [flag, n], if_exists: skip}"
		sum      = "{add: rows, where: {k: k}, plus: {n: {value: 1}}, leave: [flag], if_missing: insert}"
		sumOther = "{add: rows, where: {k: o}, plus: {n: {value: 1}}, leave: [flag], if_missing: insert}"
		pair     = "{insert: pairs, set: {k: k, l: o}, leave: [flag], if_exists: skip}"

		skip      = "{update: rows, where: {k: k}, set: {flag: {value: true}}, if_missing: skip}"
		must      = "{update: rows, where: {k: k}, set: {flag: {value: true}}}"
		skipOther = "{update: rows, where: {k: o}, set: {flag: {value: true}}, if_missing: skip}"
		skipX     = "{update: rows, where: {k: {value: x}}, set: {flag: {value: true}}, if_missing: skip}"
		skipPair  = "{update: pairs, where: {k: k, l: o}, set: {flag: {value: true}}, if_missing: skip}"
		many      = "{update: pairs, where: {k: k}, many: true, set: {flag: {value: true}}}"
		skipSum   = "{add: rows, where: {k: k}, plus: {n: {value: 1}}, if_missing: skip}"

		changes = `event "Changed" creates rows of "rows", which the record key [k] does not identify`
		topic   = `topic "b.v1" creates rows of "rows", and nothing orders the two topics`
		none    = `topic "a.v1" does not declare an order`
		found   = `rows of "rows" are found by [k], which the record key does not fill, but the topic is ordered by [k]`
		key     = `event "Made" creates rows of "rows", which the record key [k] does not identify`
	)
	write := func(steps ...string) string {
		if steps[0] == "" {
			return ""
		}
		return "write: [" + strings.Join(steps, ", ") + "], "
	}
	for _, c := range []struct{ assume, made, changed, there, want, hint string }{
		{ordered, write(insert), write(skip), "", "", ""},
		{ordered, write(sum), write(skip), "", "", ""},
		{ordered, write(pair), write(skipPair), "", "", ""},
		{ordered, write(pair), write(many), "", "", ""},
		{"", "", write(skip), "", "", ""},
		{"", write(pair), write(skip), "", "", ""},
		{"", write(insert), write(must), "", "", ""},
		{"", write(insert), write(skip), "", none, "remove if_missing: skip (such an event then becomes a dead letter)"},
		{"", write(insert), write(skipSum), "", none, "write if_missing: insert, or remove if_missing"},
		{ordered, write(insert), write(skip), write(insert), topic, "remove if_missing: skip"},
		{ordered, "", write(skip), write(insert), topic, "remove if_missing: skip"},
		{ordered, write(insert), write(skipOther), "", found, "remove if_missing: skip"},
		{ordered, write(ofOther), write(skip), "", key, "remove if_missing: skip"},
		{ordered, write(ofX), write(skipX), "", found, "remove if_missing: skip"},
		{"", write(pair), write(many), "", none, "store it in a separate table"},

		// The event itself makes the row.
		{"", write(insert), write(insert, skip), "", "", ""},
		{"", write(insert), write(ofOther, skipOther), "", "", ""},
		{"", write(insert), write(ofX, skipX), "", "", ""},
		{"", write(insert), write(ofOther, skip), "", none, "remove if_missing: skip"},
		{"", write(insert), write(ofY, skipX), "", none, "remove if_missing: skip"},
		{"", write(insert), write(insert, skipX), "", none, "remove if_missing: skip"},
		{"", write(insert), write(skip, insert), "", none, "remove if_missing: skip"},
		{"", write(insert), write(pair, skip), "", none, "remove if_missing: skip"},
		{ordered, "", write(sum, skip), write(insert), "", ""},
		{ordered, "", write(sumOther, skip), write(insert), changes, "remove if_missing: skip"},
		{ordered, "", write(skip, sum), write(insert), topic, "remove if_missing: skip"},
	} {
		text := fmt.Sprintf(spec, c.assume, c.made, c.changed, c.there)
		got := printed(t, "s", []byte(text))
		early := strings.Contains(got, "before its row would be lost")
		switch {
		case c.want == "" && got != "":
			t.Errorf("refused:\n%s", got)
		case c.want != "" && (!early || !strings.Contains(got, c.want) || !strings.Contains(got, "hint: "+c.hint) || strings.Count(got, "= hint") != 1):
			t.Errorf("%s, then %s%s: not refused because %s:\n%s", c.made, c.changed, c.there, c.want, got)
		}
	}
}
