package resolve

import (
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// What holds without the keys of effect.
const (
	effectTimeout = 30 * time.Second
	effectKeep    = 30 * 24 * time.Hour // where the event has no window
)

// resolveEffect reads effect of an event. Its key must be resolved.
func (r *topicReader) resolveEffect(e *draft.Event) {
	spec := e.Spec.Effect
	if spec == nil {
		return
	}
	if h := e.Spec.Handle; h != nil && h.Value {
		r.report.Add(h.Key, "E802", e.Is()+" has both handle and effect",
			"keep effect for the call outside of Postgres, and write its rows in steps; or declare two events")
	}
	m := &model.Effect{Timeout: effectTimeout, Keep: effectKeep, Interrupts: spec.IfInterrupted != nil && spec.IfInterrupted.Value == "dead_letter"}
	e.Model.Effect = m
	e.Unsure = e.Unsure || spec.Broken
	if spec.Timeout != nil {
		m.Timeout = spec.Timeout.Value
	}
	if k := e.Model.Key; k != nil && !k.Offset {
		m.Keep = k.Window
	}
	r.resolveLock(e, m)
	if spec.Result != nil {
		r.resolveResult(e, m)
	}
}

// resolveResult finds the type of an effect's result. Go code makes the result, so that its
// members are plain values, stored under their own names.
func (r *topicReader) resolveResult(e *draft.Event, m *model.Effect) {
	name := e.Spec.Effect.Result
	types := r.spelled["snake_case"]
	t := types.Find(name.Value)
	types.Used[name.Value] = true
	switch {
	case t == nil:
		r.report.Add(name.Pos, "E208", "unknown type "+wording.Quote(name.Value), syntax.DidYouMean(name.Value, r.types.Names))
	case t.Spec.Kind != syntax.ObjectType:
		r.report.Add(name.Pos, "E208", fmt.Sprintf("result needs a type with fields, and %s has none", wording.Quote(name.Value)),
			"declare one under types: "+name.Value+"Result: {fields: {id: string}}")
	case t.Broken:
	default:
		m.Result = t.Model
		for _, f := range t.Fields {
			r.checkResultMember(t, f)
		}
		return
	}
	e.Unsure = true
}

// checkResultMember refuses what says how a member is read from payloads (E803).
func (r *topicReader) checkResultMember(t *draft.Type, f draft.Field) {
	if f.Field == nil {
		return
	}
	what := ""
	switch ft := f.Field.Type; {
	case f.Spec.Path != nil:
		what = "a path"
	case f.Field.Default != nil:
		what = "a default"
	case ft.Notation != model.Usual:
		what = "type " + typeword.Text(ft) + ", a way to write values in a payload"
	case ft.Named != nil && ft.Kind == model.Object || ft.Elem != nil || ft.Kind == model.JSON:
		r.report.Add(f.Spec.Name.Pos, "E803", fmt.Sprintf("member %s of %s is %s, but the members of a result must be single values", wording.Quote(f.Field.Name), wording.Quote(t.Spec.Name.Value), typeword.Text(ft)),
			"keep what the steps need, such as the id that the provider returned")
		return
	}
	if what != "" {
		r.report.Add(f.Spec.Name.Pos, "E803", fmt.Sprintf("member %s of %s has %s, but a result is returned by Go code, not read from a payload", wording.Quote(f.Field.Name), wording.Quote(t.Spec.Name.Value), what),
			"declare a type of its own for the result, with plain types")
	}
}

// resultValue is a value of the result of the step's event.
func resultValue(report *syntax.Diagnostics, st *draft.Step, v syntax.Value) draft.Value {
	text := "result." + v.Name
	effect := st.Event.Model.Effect
	switch {
	case effect == nil:
		report.Add(v.Pos, "E308", text+" has no meaning here: "+st.Event.Is()+" has no effect", "write only the name of a field; effect: {result: <type>} declares a result")
		return draft.Value{}
	case effect.Result == nil && st.Event.Spec.Effect.Result == nil:
		report.Add(v.Pos, "E308", text+" has no meaning here: the effect has no result", "add result: <type> to effect")
		return draft.Value{}
	case effect.Result == nil:
		return draft.Value{}
	}
	var names []string
	for _, m := range effect.Result.Fields {
		if m.Name == v.Name {
			return draft.Value{Model: model.Value{Kind: model.ResultValue, Field: m}, Type: m.Type, Text: text, Known: true}
		}
		names = append(names, "result."+m.Name)
	}
	report.Add(v.Pos, "E207", fmt.Sprintf("type %s has no field %s", wording.Quote(effect.Result.Name), wording.Quote(v.Name)), syntax.Choices(text, "fields", names))
	return draft.Value{}
}
