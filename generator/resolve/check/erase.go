package check

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkErase reports erase_traces where it could not erase what it says (E415): there is no record
// key, a record without one would take effect, or results are in Redis.
func checkErase(report *schema.Diagnostics, d *draft.Service) {
	for _, e := range d.Events() {
		if !e.Model.Erases || e.Topic.Spec.Broken {
			continue
		}
		switch at := e.Spec.EraseTraces.Key; {
		case e.Topic.Key == nil:
			report.Add(at, "E415", "erase_traces needs record_key on topic "+wording.Quote(e.Topic.Spec.Name.Value), "for example record_key: {user_id: uuid}")
		case !e.Topic.Key.Known || e.Unsure:
		case !e.Model.ReadsRecordKey():
			report.Add(at, "E415", e.Is()+" reads no part of the record key whose traces it erases: a record without one would take effect, and erase nothing",
				"let a step use "+wording.Quote(e.Topic.Key.Parts[0].Spec.Name.Value)+", or declare a field of that name")
		default:
			checkErasable(report, d, e)
		}
	}
}

// checkErasable reports effects whose results an event cannot erase.
func checkErasable(report *schema.Diagnostics, d *draft.Service, eraser *draft.Event) {
	of := map[*model.Topic]bool{}
	for _, t := range (&model.Service{Topics: models(d.Topics)}).OfRecordKey(eraser.Topic.Model) {
		of[t] = true
	}
	for _, e := range d.Events() {
		if !of[e.Topic.Model] || e.Model.Effect == nil || !e.Model.Effect.Redis {
			continue
		}
		report.Add(e.Spec.Effect.Store.Pos, "E415", fmt.Sprintf("%s (line %d) erases the traces of this record key, and cannot erase results in Redis", eraser.Is(), eraser.Spec.EraseTraces.Key.Line),
			"say store: postgres here")
	}
}

func models(topics []*draft.Topic) (out []*model.Topic) {
	for _, t := range topics {
		out = append(out, t.Model)
	}
	return out
}
