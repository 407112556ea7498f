package check

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkProducerCopies reports what happens twice when the producer sends an event as
// two records and only the offset identifies it (E501).
func checkProducerCopies(report *syntax.Diagnostics, d *draft.Service) {
	for _, e := range d.Events() {
		checkEventCopies(report, d, e)
	}
}

func checkEventCopies(report *syntax.Diagnostics, d *draft.Service, e *draft.Event) {
	t := e.Topic
	if e.Model.Key == nil || !e.Model.Key.Offset || t.Model.UniqueRecords {
		return
	}
	fail := func(pos syntax.Pos, what, twice string) {
		report.Add(pos, "E501", fmt.Sprintf("%s: if the producer sends the event twice, %s with source: {record: offset} %s", e.Is(), what, twice),
			"name a header or fields that identify the operation, or state assume: [unique]")
	}
	if e.Model.Handle {
		fail(e.Spec.Handle.Key, "the handler", "is called twice")
	}
	if e.Spec.Effect != nil {
		fail(e.Spec.Effect.Key, "the effect", "is called twice")
	}
	for _, st := range e.Steps {
		if st.Whole && st.Model.Sums {
			fail(st.Spec.Verb.Pos, st.Spec.Verb.Value, "adds twice")
			continue
		}
		if !st.Model.Makes {
			continue
		}
		why := "the database generates the primary key"
		for _, c := range st.Model.By {
			v, set := st.Set[st.Table.Of(c)]
			if !st.Whole && !c.ByDatabase() { // of what was refused only this much is sure
				continue
			}
			switch {
			case !set:
			case v.Model.Kind == model.FieldValue && v.Model.Field.Source.Kind == model.FromRecord && v.Type.Kind != model.String && v.Type.Kind != model.Bytes:
				why = "the primary key contains the record's " + v.Model.Field.Source.Record
			case v.Model.Kind == model.NowValue:
				why = "the primary key contains the transaction time"
			default:
				continue
			}
			fail(st.Spec.Verb.Pos, st.Spec.Verb.Value, "inserts two rows, because "+why)
			break
		}
	}
}
