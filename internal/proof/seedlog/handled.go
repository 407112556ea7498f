package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// No step says which rows a Go handler writes. Names do: fields with the names and types of the
// columns of a primary key, or of a foreign key, name a row. So a handler is drawn as steps, one
// for each row that its event names.

// byHandler is the verb of such a step.
const byHandler = "handle"

// findSteps finds what each event does to rows: its steps, and those that stand for its handler.
func (r *roles) findSteps(s *model.Service) {
	for _, e := range r.topic.Events {
		r.steps[e] = slices.Clone(e.Steps)
		for _, step := range e.Steps {
			r.written[step.Table] = r.written[step.Table] || step.Makes
		}
	}
	for _, e := range r.topic.Events {
		if e.Handle {
			r.steps[e] = append(r.steps[e], r.named(s, e)...)
		}
	}
}

// findMakers decides what handlers do to the rows that their events name. If neither a step of the
// topic makes rows of a table nor any are there before, the handler of the first event that names
// one makes it. All others change it.
func (r *roles) findMakers() {
	made := map[*model.Table]bool{}
	for _, e := range r.topic.Events {
		for _, step := range r.steps[e] {
			if step.Verb != byHandler {
				continue
			}
			if there := r.written[step.Table] || slices.Contains(r.before, step.Table) || made[step.Table]; there {
				step.Changes = true
				continue
			}
			made[step.Table] = true
			step.Makes, step.Set, step.Where = true, step.Where, nil
		}
	}
}

// named are steps that stand for the handler of an event: one for each row that its fields name,
// unless a step of the event writes that table.
func (r *roles) named(s *model.Service, e *model.Event) (out []*model.Step) {
	add := func(t *model.Table, names []*model.Column) {
		step := &model.Step{Event: e, Verb: byHandler, Table: t}
		for i, name := range names {
			f := fieldOf(e, name)
			if f == nil || r.written[t] && isIdentity(e, f) {
				return
			}
			step.Where = append(step.Where, model.Assign{Column: t.PrimaryKey[i], Value: model.Value{Kind: model.FieldValue, Field: f}})
		}
		same := func(o *model.Step) bool {
			return o.Table == t && (o.Verb != byHandler || slices.Equal(o.Where, step.Where))
		}
		if len(names) > 0 && !slices.ContainsFunc(slices.Concat(e.Steps, out), same) {
			out = append(out, step)
		}
	}
	for _, t := range s.Tables {
		add(t, t.PrimaryKey)
		for _, fk := range t.ForeignKeys {
			add(fk.References, fk.Columns)
		}
	}
	return out
}

// isIdentity reports whether the field is what tells the event from others: no row of another
// event has its value.
func isIdentity(e *model.Event, f *model.Field) bool {
	return partOf(f) == nil && e.Key != nil && len(e.Key.Parts) == 1 && keyField(e, e.Key.Parts[0]) == f
}

// fieldOf is the field of an event that has the name and the type of a column; nil if none has.
func fieldOf(e *model.Event, c *model.Column) *model.Field {
	for _, f := range e.Fields {
		kind := kindsOf[c.Type.Kind]
		if f.Name == c.Name && (f.Type.Kind == kind || kind == model.Int32 && f.Type.Kind == model.Int64) {
			return f
		}
	}
	return nil
}
