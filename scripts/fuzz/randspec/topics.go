package randspec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// topic makes a topic whose events write some of the tables.
func topic(r *rand.Rand, all map[string]name, tables []*table, called string) *part {
	t := &part{lines: []string{called + ":"}}
	keyed := chance(r, 65)
	switch {
	case keyed && chance(r, 50):
		t.add(writtenKey(r, all["id"].field))
	case keyed:
		t.add(leaf("record_key: {id: " + all["id"].field + "}"))
	}
	if chance(r, 15) {
		t.add(leaf(fmt.Sprintf("name: [%s-1, %[1]s-2]", called)))
	}
	ordered := keyed && chance(r, 85)
	var promises []string
	if ordered {
		promises = append(promises, "ordered")
	}
	if chance(r, 40) {
		promises = append(promises, "unique")
	}
	if len(promises) > 0 {
		t.add(leaf("assume: [" + strings.Join(promises, ", ") + "]"))
	}
	t.add(payload(r))
	t.add(need("event_type: " + pick(r, []string{"{header: kind}", "{path: kind}", "{path: about.kind}", "[{header: kind}, {path: version}]", "[{path: kind}, {header: version}]"})))
	t.add(identity(r, keyed))
	if keyed && chance(r, 20) {
		t.add(leaf("on_failure: {park: record_key}"))
	}
	events := &part{lines: []string{"events:"}, needed: true}
	for i := range 2 + r.IntN(5) {
		w := &writer{r: r, names: all, used: map[string]bool{}, lines: map[string]bool{}, ordered: ordered}
		events.add(event(w, tables, keyed, fmt.Sprintf("E%s%d", strings.ToUpper(called[len(called)-1:]), i+1)))
	}
	for _, found := range tables {
		if ordered && slices.Equal(found.primary, []string{"id"}) && chance(r, 50) {
			events.add(tombstone(found.name, strings.ToUpper(called[len(called)-1:])))
			break
		}
	}
	t.add(events)
	return t
}

// writtenKey is a record key that is more than a text.
func writtenKey(r *rand.Rand, typ string) *part {
	at := "record_key: {id: {type: " + typ + ", path: " + pick(r, []string{"about.id", "$"}) + "}}"
	switch {
	case chance(r, 30):
		return &part{lines: []string{at, "record_key_format: {encoding: confluent_json}"}}
	case chance(r, 50) && slices.Contains([]string{"int32", "int64", "uuid", "bytes"}, typ):
		return &part{lines: []string{"record_key: {id: " + typ + "}", "record_key_format: {encoding: binary}"}}
	}
	return leaf(at)
}

// tombstone deletes the row of the record key.
func tombstone(table, suffix string) *part {
	steps := &part{lines: []string{"write:"}, parts: []*part{leaf("- delete: " + table)}, needed: true}
	return &part{lines: []string{"Gone" + suffix + ":"}, parts: []*part{need("tombstone: true"), steps}}
}

// payload is how values are written.
func payload(r *rand.Rand) *part {
	p := &part{lines: []string{"payload:"}}
	if chance(r, 30) {
		p.add(leaf("naming: camelCase"))
	}
	for _, option := range []string{"root: data.after", "absent_marker: not_sent"} {
		if chance(r, 12) {
			p.add(leaf(option))
		}
	}
	if chance(r, 15) {
		p.add(leaf("encoding: " + pick(r, []string{"json_string", "confluent_json"})))
	}
	if len(p.parts) == 0 {
		p.lines = []string{"payload: {}"}
	}
	return p
}

// identity is where the idempotency key comes from.
func identity(r *rand.Rand, keyed bool) *part {
	if chance(r, 25) {
		return need("idempotency_key: {source: {record: offset}}")
	}
	k := &part{lines: []string{"idempotency_key:"}, needed: true}
	sources := []string{"{header: request}", "{header: request}", "event_id", "[{header: request}, event_id]"}
	if keyed {
		sources = append(sources, "[id, event_id]")
	}
	source := pick(r, sources)
	k.add(need("source: "+source), need("window: 40d"))
	if source == "[id, event_id]" && chance(r, 50) { // else it is not proven
		k.add(leaf("copies: same_partition"))
	}
	if chance(r, 12) {
		k.add(leaf("compare: nothing"))
	}
	return k
}

func event(w *writer, tables []*table, keyed bool, called string) *part {
	r := w.r
	e := &part{lines: []string{called + ":"}}
	switch {
	case chance(r, 25):
		e.add(effect(w))
	case chance(r, 15):
		e.add(leaf("handle: true"))
	}
	steps := &part{lines: []string{"write:"}, needed: true}
	for range 1 + r.IntN(3) {
		t := pick(r, tables)
		for range 3 { // rows that are found by the record key may be overwritten
			if w.ordered && !t.key("id") {
				t = pick(r, tables)
			}
		}
		steps.add(w.step(t))
	}
	version := ""
	if chance(r, 15) {
		version = "/v2"
	}
	e.add(need("type: " + strings.ToLower(called) + version))
	fields := &part{lines: []string{"fields:"}, parts: []*part{leaf("event_id: string"), leaf("lines: list(Line)")}}
	for _, n := range append(order, rowNumber) {
		if !w.used[n] || n == "id" && keyed && chance(r, 50) {
			continue
		}
		fields.add(leaf(n + ": " + field(w, n)))
	}
	e.add(fields, steps)
	return e
}

// effect is Go code outside of the transaction.
func effect(w *writer) *part {
	e := &part{lines: []string{"effect:"}}
	e.add(need("if_interrupted: " + pick(w.r, []string{"retry", "dead_letter"})))
	if w.result = chance(w.r, 60); w.result {
		e.add(leaf("result: Answer"))
	}
	for _, option := range []string{"timeout: 5s", "lock: {things: event_id}"} {
		if chance(w.r, 25) {
			e.add(leaf(option))
		}
	}
	return e
}

// field is how an event declares a field.
func field(w *writer, called string) string {
	r, n := w.r, w.names[called]
	typ := n.field
	if n.optional {
		typ = "optional " + typ
	}
	switch {
	case n.optional && w.ordered && chance(r, 35):
		return "{type: " + typ + ", patch: true}"
	case chance(r, 10):
		return "{type: " + typ + ", path: about." + called + "}"
	case chance(r, 5):
		return "{type: " + typ + ", header: h-" + called + "}"
	}
	return typ
}
