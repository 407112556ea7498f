package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// checkProducerCopies reports what happens twice when the producer sends an event as
// two records and only the offset identifies it, always or without a header (E501).
func checkProducerCopies(report *schema.Diagnostics, e *event) {
	t, by, remedy := e.topic, "source: {record: offset}", "name a header or fields that identify the operation, or state assume: {unique_records: true}"
	if e.model.Key != nil && e.model.Key.OffsetIfMissing {
		by, remedy = "missing: offset", "drop missing: offset, or state assume: {unique_records: true}"
	}
	if e.model.Key == nil || !e.model.Key.Offset && !e.model.Key.OffsetIfMissing || t.model.UniqueRecords || t.spec.Assume != nil && t.spec.Assume.Broken {
		return
	}
	fail := func(pos schema.Pos, what, twice string) {
		report.Add(pos, "E501", fmt.Sprintf("%s: %s with %s %s when the producer sends the event twice", e.is(), what, by, twice), remedy)
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
