package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// resolveWithBranches reads a step, and behind it the steps under its then and its else.
func (r *topicReader) resolveWithBranches(e *draft.Event, spec *schema.Step) {
	st := r.addStep(e, spec, nil, model.Branch{})
	if st == nil {
		return
	}
	if spec.Then != nil {
		for _, below := range spec.Then.Steps {
			r.addStep(e, below, st, model.Branch{Of: st.Model})
		}
	}
	if spec.Else == nil {
		return
	}
	if st.Whole && !st.Model.Skips() {
		r.report.Add(spec.Else.Key, "E515", fmt.Sprintf("%s is never skipped, so nothing under else would run", st.Is()), neverSkipped(st))
	}
	for _, below := range spec.Else.Steps {
		r.addStep(e, below, st, model.Branch{Of: st.Model, Else: true})
	}
}

func neverSkipped(st *draft.Step) string {
	switch {
	case st.Model.If.Exists == "skip":
		return "the database makes the key of each row, so none is there already"
	case st.Model.If.Exists == "error":
		return "for rows that may be there already write if_exists: skip"
	case st.Model.Sums && st.Model.If.Below == "error":
		return "for sums that may be too low write if_below: skip"
	case st.Model.OnlyChanges():
		return "for rows that may be missing write if_missing: skip"
	}
	return "for events that may be stale write if_newer: <version or time column>"
}

// addStep reads one step. It returns nil for an emit, which is no step of a table.
func (r *topicReader) addStep(e *draft.Event, spec *schema.Step, under *draft.Step, branch model.Branch) *draft.Step {
	if spec.Verb.Value == schema.Emit {
		r.addEmit(e, spec, under, branch)
		return nil
	}
	st := resolveStep(r.report, r.tables, e, spec, under)
	st.Model.Under = branch
	e.Steps = append(e.Steps, st)
	e.Model.Steps = append(e.Model.Steps, st.Model)
	e.Unsure = e.Unsure || !st.Whole
	return st
}
