package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkOutbox reports events that would come back to this consumer (E807), and two that nobody
// who reads their topic could tell apart (E213).
func checkOutbox(report *schema.Diagnostics, d *draft.Service) {
	if d.Outbox == nil {
		return
	}
	first := map[[2]string]*draft.OutEvent{}
	for _, e := range d.Outbox.Events {
		if e.Spec.Topic == nil {
			continue
		}
		for _, t := range d.Topics {
			if t.Model.Reads(e.Model.Topic) {
				report.Add(e.Spec.Topic.Pos, "E807", fmt.Sprintf("%s goes to topic %s, which this consumer reads: a loop", e.Is(), wording.Quote(e.Model.Topic)), "if that is wanted, consume it with another consumer")
			}
		}
		is := [2]string{e.Model.Topic, e.Model.Type}
		if other := first[is]; other != nil {
			report.Add(e.Spec.Name.Pos, "E213", fmt.Sprintf("type %s on topic %s is used by %s and %s", wording.Quote(e.Model.Type), wording.Quote(e.Model.Topic), other.Is(), e.Is()), "give one of them another type")
			continue
		}
		first[is] = e
	}
}

// checkEmitted reports an emit that runs for a stale event, beside a step with if_newer that does
// not (E507).
func checkEmitted(report *schema.Diagnostics, e *draft.Event) {
	i := slices.IndexFunc(e.Steps, func(st *draft.Step) bool { return st.Spec.If.Newer != nil })
	for _, em := range e.Emits {
		st := em.Step
		always := st.Spec.If.Always != nil && st.Spec.If.Always.Value
		guarded := st.Under != nil && st.Under.Spec.If.Newer != nil
		switch {
		case always && guarded:
			report.Add(st.Spec.If.Always.Key, "E507", fmt.Sprintf("always means nothing here: %s decides whether this step runs", st.Under.Is()), "drop it, or write the step beside that one")
		case always && i < 0:
			report.Add(st.Spec.If.Always.Key, "E507", fmt.Sprintf("always means nothing here: no step of %s has if_newer", wording.Quote(e.Spec.Name.Value)), "drop it")
		case i >= 0 && !always && !guarded:
			report.Add(st.Spec.Verb.Pos, "E507", fmt.Sprintf("a stale %s would be applied in part: %s has if_newer, this emit has no guard", wording.Quote(e.Spec.Name.Value), e.Steps[i].Is()),
				`put it under "then" of the guarded step, or state always: true`)
		}
	}
}

// warnSent warns of sensitive values that leave the service where anybody sees them: as a record
// key or a header, or in a field that does not say that it is sensitive (W906).
func warnSent(report *schema.Diagnostics, d *draft.Service) {
	if d.Outbox == nil {
		return
	}
	for _, e := range d.Outbox.Events {
		for _, f := range e.Model.Fields {
			in := ""
			if f == e.Model.Key {
				in = "its record key"
			} else if i := slices.IndexFunc(e.Model.Headers, func(h model.OutValue) bool { return h.Field == f }); i >= 0 {
				in = "header " + wording.Quote(e.Model.Headers[i].Header.Name)
			}
			if in != "" && f.HoldsSensitive() {
				report.Add(e.Spec.Name.Pos, "W906", fmt.Sprintf("field %s of %s is sensitive, and is in %s, which tools for Kafka show with every record", wording.Quote(f.Name), e.Is(), in), "send an id that tells nothing")
			}
		}
	}
	for _, e := range d.Events() {
		for _, em := range e.Emits {
			for _, set := range em.Model.Set {
				if from := set.Value.Field; from != nil && from.HoldsSensitive() && !set.Field.HoldsSensitive() && !report.Accepts(e.Accept(), "W906") {
					report.Add(em.Step.Spec.Table.Pos, "W906", fmt.Sprintf("field %s of %s is sensitive, and is sent as field %s of %s, which is not", wording.Quote(from.Name), e.Is(), wording.Quote(set.Field.Name), em.Of.Is()), "declare it sensitive there, too, or leave it out")
				}
			}
		}
	}
}
