package resolve

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// warn reports what is allowed but often regretted (W9xx).
func (r *resolver) warn() {
	for _, t := range r.topics {
		u := t.spec.Unhandled
		if u != nil && u.UnknownType != nil && u.UnknownType.Value == "skip" && t.spec.EventType != nil && (t.spec.Ignore == nil || len(t.spec.Ignore.Items) == 0) {
			r.fail(u.UnknownType.Pos, "W908", "unknown_type: skip without an ignore list: a new type would be passed over unseen",
				"list the types that mean nothing here under ignore, and keep unknown_type: dead_letter")
		}
	}
	r.warnCompare()
	for _, st := range r.steps() {
		if !st.whole {
			continue
		}
		r.warnGuard(st)
		r.warnUnique(st)
		r.warnParents(st)
	}
}

// warnCompare warns of keys whose events are not compared (W903).
func (r *resolver) warnCompare() {
	warn := func(k *schema.IdempotencyKey) {
		if k != nil && k.Compare != nil && k.Compare.Word != nil && k.Compare.Word.Value == "nothing" {
			r.fail(k.Compare.Pos, "W903", "compare: nothing: a producer bug that reuses keys goes unnoticed", "list the fields that all copies of an event have in common: compare: [a, b]")
		}
	}
	for _, t := range r.topics {
		warn(t.spec.IdempotencyKey)
		for _, e := range t.events {
			warn(e.spec.IdempotencyKey)
		}
	}
}

// warnGuard warns of guards too coarse to tell two changes apart (W901).
func (r *resolver) warnGuard(st *step) {
	if st.model.IfNewer == nil {
		return
	}
	unit := ""
	switch f := st.model.Newer.Field; {
	case st.table.of(st.model.IfNewer).model.Type.Kind == model.ColDate:
		unit = "on one day"
	case f != nil && f.Type.Notation == model.EpochSeconds:
		unit = "in one second"
	default:
		return
	}
	r.fail(st.spec.IfNewer.Pos, "W901", fmt.Sprintf("if_newer: %s: of two changes %s only the first is applied", st.model.IfNewer.Name, unit), "use a version that grows with every change")
}

// warnUnique warns of unique keys that can refuse a step that changes the row that it finds (W904).
func (r *resolver) warnUnique(st *step) {
	if !st.model.Makes || !st.model.Changes {
		return
	}
	var others []string
	for _, key := range st.table.keys() {
		filled := true // a key that the database makes does not clash
		for _, c := range key {
			_, set := st.set[st.table.of(c)]
			filled = filled && set
		}
		if filled && !sameColumns(key, st.model.By) {
			others = append(others, bracketed(columnNames(key)))
		}
	}
	if len(others) > 0 {
		r.fail(st.spec.Verb.Pos, "W904", fmt.Sprintf("%s is also unique by %s: a conflict there dead-letters the event", quote(st.spec.Table.Value), strings.Join(others, " and ")),
			"if that is meant, all is well; to find the row by such a key, name it: by: "+others[0])
	}
}

// warnParents warns of parents that another topic creates (W905).
func (r *resolver) warnParents(st *step) {
	for _, fk := range st.table.model.ForeignKeys {
		from, here := "", false
		for _, other := range r.steps() {
			if other.table.model != fk.References || !other.model.Makes {
				continue
			}
			if other.event.topic == st.event.topic {
				here = true
			} else if from == "" {
				from = other.event.topic.spec.Name.Value
			}
		}
		if from != "" && !here && st.setsAny(fk.Columns) {
			r.fail(st.spec.Verb.Pos, "W905", fmt.Sprintf("a row of %s may arrive before its parent in %s, which topic %s fills; it is then dead-lettered", quote(st.spec.Table.Value), quote(fk.References.Name), quote(from)),
				"fill both from one topic, or do without the foreign key")
		}
	}
}

func (st *step) setsAny(columns []*model.Column) bool {
	for _, a := range st.model.Set {
		if a.Value.Kind != model.NullValue && containsColumns(columns, []*model.Column{a.Column}) {
			return true
		}
	}
	return false
}
