package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// checkSafety checks what each step needs so that duplicates, disorder and stale events leave
// the right rows.
func (r *resolver) checkSafety() {
	for _, t := range r.topics {
		r.checkPromiseIsNeeded(t)
		for _, e := range t.events {
			r.checkProducerCopies(e)
			r.checkCopies(e)
			r.checkHalfApplied(e)
			r.checkStepOrder(e)
			for _, st := range e.steps {
				if st.whole && !t.orderUnknown {
					r.checkOrder(st)
				}
			}
		}
	}
	r.checkShared()
}

// checkProducerCopies reports what happens twice when the producer sends an event as
// two records and only the offset identifies it, always or without a header (E501).
func (r *resolver) checkProducerCopies(e *event) {
	t, by, remedy := e.topic, "source: {record: offset}", "name a header or fields that identify the operation, or state assume: {unique_records: true}"
	if e.model.Key != nil && e.model.Key.OffsetIfMissing {
		by, remedy = "missing: offset", "drop missing: offset, or state assume: {unique_records: true}"
	}
	if e.model.Key == nil || !e.model.Key.Offset && !e.model.Key.OffsetIfMissing || t.model.UniqueRecords || t.spec.Assume != nil && t.spec.Assume.Broken {
		return
	}
	fail := func(pos schema.Pos, what, twice string) {
		r.fail(pos, "E501", fmt.Sprintf("%s: %s with %s %s when the producer sends the event twice", e.is(), what, by, twice), remedy)
	}
	if e.model.Handle {
		fail(e.spec.Handle.Key, "handle", "runs twice")
	}
	for _, st := range e.steps {
		if !st.whole || !st.model.Makes {
			continue
		}
		why := "the database makes the primary key"
		for _, c := range st.model.By {
			v, set := st.set[st.table.of(c)]
			if set && v.model.Kind == model.FieldValue && v.model.Field.Source.Kind == model.FromRecord && v.typ.Kind != model.String && v.typ.Kind != model.Bytes {
				why = "the primary key holds the record's " + v.model.Field.Source.Record
			} else if set && v.model.Kind != model.NowValue {
				continue
			}
			fail(st.spec.Verb.Pos, st.spec.Verb.Value, "inserts two rows, because "+why)
			break
		}
	}
}

// checkHalfApplied reports steps without if_newer beside one that has it (E507).
func (r *resolver) checkHalfApplied(e *event) {
	i := slices.IndexFunc(e.steps, func(st *step) bool { return st.spec.IfNewer != nil })
	if i < 0 {
		return
	}
	for _, st := range e.steps {
		if st.spec.IfNewer == nil && st.table != nil {
			r.fail(st.spec.Verb.Pos, "E507", fmt.Sprintf("a stale %s would be applied in part: %s has if_newer, this %s has no guard", quote(e.spec.Name.Value), e.steps[i].is(), st.spec.Verb.Value),
				"add if_newer here too, with a column of this table (an insert has none: use upsert), or drop it there")
		}
	}
}

// checkOrder reports a step that a late event of the topic could make wrong: an
// overwrite (E503) or a delete that is undone (E504).
func (r *resolver) checkOrder(st *step) {
	if st.ordered() || st.model.OnlyMakes() {
		return
	}
	if st.model.Removes {
		r.fail(st.spec.Verb.Pos, "E504", fmt.Sprintf("%s: a late event could create the deleted row again: %s", st.event.is(), st.whyUnordered()),
			"keep the row and mark it with update"+st.event.topic.orIfOrdered())
		return
	}
	if st.spec.IfNewer != nil || r.sameAtAnyTime(st) {
		return
	}
	hint := "add if_newer: <version or time column>" + st.event.topic.orIfOrdered()
	r.fail(st.spec.Verb.Pos, "E503", fmt.Sprintf("%s: an older event could overwrite a newer one: %s", st.event.is(), st.whyUnordered()), hint)
}

// orIfOrdered is the end of a hint: what the topic could state about its order.
func (t *topic) orIfOrdered() string {
	switch {
	case t.key == nil:
		return ", or declare record_key and assume: {ordered_by: record_key}"
	case !t.model.Ordered:
		return ", or state assume: {ordered_by: record_key} if that holds"
	}
	return ""
}

// rowKey are the columns that find the row, with their values.
func (st *step) rowKey() []model.Assign {
	if len(st.model.Where) > 0 {
		return st.model.Where
	}
	var out []model.Assign
	for _, c := range st.model.By {
		if v, ok := st.set[st.table.of(c)]; ok {
			out = append(out, model.Assign{Column: c, Value: v.model})
		}
	}
	return out
}

// ordered reports whether all events of the topic that write the row come in order:
// the topic is ordered by its record key, and the record key is inside the row key.
func (st *step) ordered() bool {
	t := st.event.topic
	if !t.model.Ordered || t.key == nil {
		return false
	}
	for _, p := range t.key.model.Parts {
		if !slices.ContainsFunc(st.rowKey(), func(a model.Assign) bool { return partOf(a.Value) == p }) {
			return false
		}
	}
	return true
}

// partOf is the record-key part that a value equals, or nil.
func partOf(v model.Value) *model.KeyPart {
	switch {
	case v.Kind != model.FieldValue:
		return nil
	case v.Field.Source.Kind == model.FromRecordKey:
		return v.Field.Source.Part
	}
	return v.Field.SamePart
}

// whyUnordered explains ordered() == false.
func (st *step) whyUnordered() string {
	t := st.event.topic
	if !t.model.Ordered || t.key == nil {
		return fmt.Sprintf("topic %s does not say what orders it", quote(t.spec.Name.Value))
	}
	var columns, parts []string
	for _, a := range st.rowKey() {
		columns = append(columns, a.Column.Name)
	}
	for _, p := range t.key.model.Parts {
		parts = append(parts, p.Name)
	}
	found, from := bracketed(columns), ""
	if found == bracketed(parts) { // equal names, but not filled from the record key
		from = ", which the record key does not fill"
	}
	return fmt.Sprintf("rows of %s are found by %s%s, but the topic is ordered by %s", quote(st.spec.Table.Value), found, from, bracketed(parts))
}

// sameAtAnyTime reports whether a step that only changes rows writes only constants, into
// columns that no other step writes: then it does not matter when it runs. The transaction's time
// counts as one: it says when a record was last applied, whatever the order of the records. A
// step that only makes rows does not count as another writer, because before it there is no row
// to change; unless that is skipped.
func (r *resolver) sameAtAnyTime(st *step) bool {
	if !st.model.OnlyChanges() {
		return false
	}
	for c, v := range st.set {
		switch v.model.Kind {
		case model.ConstValue, model.NullValue, model.NowValue:
		default:
			return false
		}
		for _, other := range r.steps() {
			_, writes := other.set[c]
			harmless := other.model.OnlyMakes() && st.model.IfMissing != "skip"
			if other != st && writes && !harmless {
				return false
			}
		}
	}
	return true
}

// steps are all steps of the spec whose table is known.
func (r *resolver) steps() []*step {
	var out []*step
	for _, t := range r.topics {
		for _, e := range t.events {
			for _, st := range e.steps {
				if st.table != nil {
					out = append(out, st)
				}
			}
		}
	}
	return out
}
