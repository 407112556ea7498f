package check

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkPatches refuses patches where a step cannot do without their value (E309).
func checkPatches(report *syntax.Diagnostics, st *draft.Step) {
	p := patches{report, st}
	for _, c := range st.Table.Columns {
		p.compared(c)
		p.written(c)
	}
	if v := st.Model.If.Version; v.Patch() {
		p.refuse(st.Spec.If.Newer.Pos, v.Field, "may be absent, but if_newer compares it", `remove "patch", or compare another column`)
	}
}

type patches struct {
	report *syntax.Diagnostics
	st     *draft.Step
}

func (p patches) refuse(at syntax.Pos, f *model.Field, why, hint string) {
	p.report.Add(at, "E309", fmt.Sprintf("patch field %s %s", wording.Quote(f.Name), why), hint)
}

// compared looks at what finds the row.
func (p patches) compared(c *draft.Column) {
	v, finds := p.st.Where[c]
	if !finds && model.ContainsColumns(p.st.Model.By, []*model.Column{c.Model}) {
		v = p.st.Set[c]
	}
	if v.Model.Patch() {
		p.refuse(p.place(c), v.Model.Field, fmt.Sprintf("may be absent, but column %s finds the row by it", wording.Quote(c.Spec.Name.Value)), `remove "patch", or find the row by another column`)
	}
}

// written looks at what the step puts into a column.
func (p patches) written(c *draft.Column) {
	v, s := p.st.Set[c], p.st.Model
	if !v.Model.Patch() || model.ContainsColumns(s.By, []*model.Column{c.Model}) && s.Changes {
		return
	}
	verb := p.st.Spec.Verb.Value
	switch {
	case !s.Changes || s.Sums:
		p.refuse(p.place(c), v.Model.Field, fmt.Sprintf("cannot be used by %s: there is no column that an absent value could leave unchanged", verb), `write it with update or upsert, or drop "patch"`)
	case s.Makes && !c.Model.Nullable && c.Spec.Default == nil:
		p.refuse(p.place(c), v.Model.Field, fmt.Sprintf("may be absent, but %s may not be null and has no default: a new row would have no value", c.Is()),
			"give the column a default, make it nullable, or write the field with update")
	}
}

// place is where the step names the value of a column: in set or where, or else the table, whose
// columns take values of their names.
func (p patches) place(c *draft.Column) syntax.Pos {
	for _, in := range []*syntax.Assigns{p.st.Spec.Set, p.st.Spec.Where} {
		if in == nil {
			continue
		}
		for _, a := range in.Items {
			if a.Column.Value == c.Spec.Name.Value {
				return a.Value.Pos
			}
		}
	}
	return p.st.Spec.Table.Pos
}
