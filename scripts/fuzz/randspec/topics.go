package randspec

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// topic makes a topic whose events write some of the tables.
func topic(r *rand.Rand, all map[string]name, tables []*table, called string) *part {
	t := &part{lines: []string{called + ":"}}
	keyed := chance(r, 65)
	if keyed {
		t.add(leaf("record_key: {id: " + all["id"].field + "}"))
	}
	assume := &part{lines: []string{"assume:"}}
	ordered := keyed && chance(r, 85)
	if ordered {
		assume.add(leaf("ordered_by: record_key"))
	}
	if chance(r, 40) {
		assume.add(leaf("unique_records: true"))
	}
	if len(assume.parts) > 0 {
		t.add(assume)
	}
	t.add(need(pick(r, []string{"event_type: {header: kind}", "event_type: {path: kind}", "event_type: {path: about.kind}"})))
	if chance(r, 20) {
		t.add(leaf("payload: {encoding: " + pick(r, []string{"gzip", "json_string"}) + "}"))
	}
	t.add(identity(r, keyed))
	events := &part{lines: []string{"events:"}, needed: true}
	for i := range 2 + r.IntN(5) {
		w := &writer{r: r, names: all, used: map[string]bool{}, lines: map[string]bool{}, ordered: ordered}
		events.add(event(w, tables, keyed, fmt.Sprintf("E%s%d", strings.ToUpper(called[len(called)-1:]), i+1)))
	}
	t.add(events)
	return t
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
	k.add(need("source: "+pick(r, sources)), need("window: 40d"))
	for _, option := range []string{"copies: same_partition", "unique_per: topic", "compare: nothing", "also: [former_id]", "missing: offset"} {
		if chance(r, 12) {
			k.add(leaf(option))
		}
	}
	return k
}

func event(w *writer, tables []*table, keyed bool, called string) *part {
	r, all := w.r, w.names
	e := &part{lines: []string{called + ":"}}
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
	e.add(need("type: " + strings.ToLower(called)))
	fields := &part{lines: []string{"fields:"}, parts: []*part{leaf("event_id: string"), leaf("former_id: optional string"), leaf("lines: list(Line)")}}
	for _, n := range append(order, rowNumber) {
		if !w.used[n] || n == "id" && keyed && chance(r, 50) {
			continue
		}
		typ := all[n].field
		if all[n].optional {
			typ = "optional " + typ
		}
		fields.add(leaf(n + ": " + typ))
	}
	e.add(fields, steps)
	return e
}
