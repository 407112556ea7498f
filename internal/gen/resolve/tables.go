package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// unknownTable reports a table that is not declared (E205), unless it is near one whose
// name was refused.
func unknownTable(report *syntax.Diagnostics, tables *draft.Tables, at syntax.Text) {
	near := tables.Find(syntax.Closest(at.Value, tables.Names))
	if at.Value == "" || near != nil && near.Spec.Broken || tables.Unknown {
		return
	}
	report.Add(at.Pos, "E205", "unknown table "+wording.Quote(at.Value), wording.Tables(at.Value, tables.Names))
}

func resolveTables(report *syntax.Diagnostics, s *syntax.Spec) *draft.Tables {
	ts := &draft.Tables{Unknown: s.Broken && len(s.Tables) == 0}
	for _, spec := range s.Tables {
		t := &draft.Table{Spec: spec, Broken: spec.Broken, Model: &model.Table{
			Name: spec.Name.Value, GoName: goname.Of(spec.Name.Value), Doc: docOf(spec.Doc),
		}}
		resolveInDatabase(report, t)
		ts.All = append(ts.All, t)
		ts.Add(spec.Name.Value, t)
		for _, c := range spec.Columns {
			t.Columns = append(t.Columns, resolveColumn(report, t, c))
			t.Model.Columns = append(t.Model.Columns, t.Columns[len(t.Columns)-1].Model)
		}
	}
	for _, t := range ts.All {
		resolveTableKeys(report, t)
	}
	for _, t := range ts.All {
		for _, fk := range t.Spec.ForeignKeys {
			resolveForeignKey(report, ts, t, fk)
		}
	}
	return ts
}

func resolveColumn(report *syntax.Diagnostics, t *draft.Table, spec *syntax.Column) *draft.Column {
	c := &draft.Column{Spec: spec, Table: t, Broken: spec.Broken, Model: &model.Column{
		Name: spec.Name.Value, Doc: docOf(spec.Doc), Nullable: spec.Type.Nullable,
	}}
	if spec.Type.Text == "" {
		if !c.Broken {
			report.Add(spec.Type.Pos, "E610", c.Is()+" has an empty type", "for example text")
		}
		c.Broken = true
		return c
	}
	ct, ok := typeword.ColumnType(spec.Type.Word)
	if !ok {
		report.Add(spec.Type.Pos, "E610", "unknown column type "+wording.Quote(spec.Type.Text), typeword.UnknownColumnHint(spec.Type))
		c.Broken = true
		return c
	}
	c.Model.Type = ct
	if spec.Default != nil {
		c.Model.Default = columnDefault(report, c)
	}
	if spec.Identity != nil && spec.Identity.Value {
		c.Model.Identity = checkIdentity(report, c)
	}
	resolveFilled(report, c)
	return c
}

// columnDefault reads the default of a column: now(), gen_random_uuid() or a constant.
func columnDefault(report *syntax.Diagnostics, c *draft.Column) *model.Default {
	text, ct := c.Spec.Default, c.Model.Type
	for _, f := range []struct {
		call string
		kind model.ColKind
	}{{"now()", model.ColTimestamptz}, {"gen_random_uuid()", model.ColUUID}} {
		if text.Value != f.call {
			continue
		}
		if ct.Kind != f.kind {
			report.Add(text.Pos, "E304", fmt.Sprintf("default %s does not fit %s of type %s", f.call, c.Is(), c.Spec.Type.Word),
				fmt.Sprintf("%s fills %s", f.call, typeword.ColumnWordOf[f.kind]))
			return nil
		}
		return &model.Default{Func: f.call}
	}
	norm, why := typeword.ColumnConstant(ct, text.Value)
	if why != typeword.Fits && isNow(text.Value) {
		why = "for the time of the insert, write now(), in a timestamptz column"
	}
	if why != typeword.Fits {
		report.Add(text.Pos, "E304", fmt.Sprintf("default %s does not fit %s of type %s", wording.Quote(text.Value), c.Is(), c.Spec.Type.Word), string(why))
		return nil
	}
	return &model.Default{Const: &model.Constant{Text: norm}}
}

func checkIdentity(report *syntax.Diagnostics, c *draft.Column) bool {
	fail := func(message, hint string) bool {
		report.Add(c.Spec.Identity.Key, "E610", message, hint)
		return false
	}
	switch k := c.Model.Type.Kind; {
	case k != model.ColInteger && k != model.ColBigint:
		return fail(fmt.Sprintf("identity numbers rows, but %s is %s", c.Is(), c.Spec.Type.Word), "use integer or bigint")
	case c.Model.Nullable:
		return fail(fmt.Sprintf("identity fills %s in every row, so it cannot be nullable", c.Is()), `remove "nullable"`)
	case c.Spec.Default != nil:
		return fail(fmt.Sprintf("%s has both identity and default", c.Is()), "keep one of them")
	}
	return true
}

// columnList looks up the columns of a key and reports unknown and repeated ones
// (E206, E107). Complete is false if one is missing or broken.
func columnList(report *syntax.Diagnostics, t *draft.Table, list *syntax.Texts, what string) (columns []*draft.Column, complete bool) {
	complete = true
	for i, name := range list.Items {
		if slices.ContainsFunc(list.Items[:i], func(x syntax.Text) bool { return x.Value == name.Value }) {
			report.Add(name.Pos, "E107", fmt.Sprintf("column %s appears twice in %s", wording.Quote(name.Value), what), "name it once")
			complete = false
			continue
		}
		c := lookupColumn(report, t, name)
		if c == nil || c.Broken {
			complete = false
			continue
		}
		columns = append(columns, c)
	}
	return columns, complete
}

// lookupColumn finds a column or reports E206. Of a broken table it stays silent.
func lookupColumn(report *syntax.Diagnostics, t *draft.Table, name syntax.Text) *draft.Column {
	c := t.Column(name.Value)
	if c == nil && !t.Broken {
		report.Add(name.Pos, "E206", fmt.Sprintf("table %s has no column %s", wording.Quote(t.Spec.Name.Value), wording.Quote(name.Value)),
			syntax.Choices(name.Value, "columns", t.ColumnNames()))
	}
	return c
}
