package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

func fieldValue(f *model.Field, text string) draft.Value {
	if f == nil {
		return draft.Value{}
	}
	return draft.Value{Model: model.Value{Kind: model.FieldValue, Field: f}, Type: f.Type, Text: text, Known: true}
}

// resolveValue looks up a value that the spec writes for a column.
func resolveValue(report *syntax.Diagnostics, st *draft.Step, v syntax.Value, c *draft.Column) draft.Value {
	switch v.Kind {
	case syntax.FieldValue:
		return fieldValue(use(report, st.Event, syntax.Text{Value: v.Name, Pos: v.Pos}, fieldOrConstant), v.Name)
	case syntax.MemberValue:
		return memberValue(report, st, v)
	case syntax.ElementValue:
		if !needsEach(report, st, v, "each") || st.Elem == nil {
			return draft.Value{}
		}
		if st.Elem.Kind == model.Object {
			report.Add(v.Pos, "E308", fmt.Sprintf("each is a whole %s here, but a column needs one of its fields", typeword.Text(*st.Elem)), "for example each."+st.Elem.Named.Fields[0].Name)
			return draft.Value{}
		}
		return draft.Value{Model: model.Value{Kind: model.ElemValue}, Type: *st.Elem, Text: "each", Known: true}
	case syntax.ResultValue:
		return resultValue(report, st, v)
	case syntax.ConstantValue:
		return constantValue(report, v, c)
	case syntax.NowValue:
		return draft.Value{Model: model.Value{Kind: model.NowValue}, Text: "now", Known: true}
	case syntax.PositionValue:
		if !needsEach(report, st, v, "{each: position}") {
			return draft.Value{}
		}
		return draft.Value{Model: model.Value{Kind: model.PositionValue}, Type: model.FieldType{Kind: model.Int32}, Text: "each: position", Known: true}
	}
	return draft.Value{}
}

// needsEach reports a value of an element in a step without each.
func needsEach(report *syntax.Diagnostics, st *draft.Step, v syntax.Value, text string) bool {
	if !st.PerElement() {
		report.Add(v.Pos, "E308", fmt.Sprintf("%s has no meaning here: the step has no each", text), "name the list: each: "+listField(st.Event))
		return false
	}
	return true
}

// listHint says how a field gets many rows.
func listHint(e *draft.Event) string {
	if name := listField(e); name[0] != '<' {
		return "did you mean " + wording.Quote(name) + "?"
	}
	return "remove each for one row, or declare the field as a list: list(string), or list(T) of a type with fields"
}

// listField is a list that the event has, for an example.
func listField(e *draft.Event) string {
	for _, n := range e.Scope.Names {
		if n.Field != nil && n.Field.Type.Kind == model.List && !n.Field.Type.Optional {
			return n.Text
		}
	}
	return "<field with a list>"
}

func memberValue(report *syntax.Diagnostics, st *draft.Step, v syntax.Value) draft.Value {
	text := "each." + v.Name
	if !needsEach(report, st, v, text) || st.Elem == nil {
		return draft.Value{}
	}
	if st.Elem.Kind != model.Object {
		report.Add(v.Pos, "E308", fmt.Sprintf("the elements of %s are %s and have no fields", wording.Quote(st.Model.Each.Name), typeword.Text(*st.Elem)), `write "each" for the element itself`)
		return draft.Value{}
	}
	var names []string
	for _, m := range st.Elem.Named.Fields {
		if m.Name == v.Name {
			return elemValue(m, text)
		}
		names = append(names, "each."+m.Name)
	}
	report.Add(v.Pos, "E207", fmt.Sprintf("type %s has no field %s", wording.Quote(typeword.Text(*st.Elem)), wording.Quote(v.Name)), syntax.Choices(text, "fields", names))
	return draft.Value{}
}

func elemValue(m *model.Field, text string) draft.Value {
	return draft.Value{Model: model.Value{Kind: model.ElemValue, Field: m}, Type: m.Type, Text: text, Known: true}
}

// constantValue reads a constant by the type of its column.
func constantValue(report *syntax.Diagnostics, v syntax.Value, c *draft.Column) draft.Value {
	if c.Broken {
		return draft.Value{}
	}
	norm, why := typeword.ColumnConstant(c.Model.Type, v.Const.Value)
	if why != typeword.Fits && isNow(v.Const.Value) {
		why = "for the transaction's time, write {now: true}"
	}
	if why != typeword.Fits {
		report.Add(v.Const.Pos, "E304", fmt.Sprintf("constant %s does not fit column %s of type %s", wording.Quote(v.Const.Value), wording.Quote(c.Spec.Name.Value), c.Spec.Type.Word), string(why))
		return draft.Value{}
	}
	return draft.Value{Model: model.Value{Kind: model.ConstValue, Const: &model.Constant{Text: norm}}, Known: true}
}

// checkFill checks type and NULL of a value that goes into a column, and returns it, as
// unknown if it cannot.
func checkFill(report *syntax.Diagnostics, st *draft.Step, c *draft.Column, v draft.Value, pos syntax.Pos) draft.Value {
	v = checkType(report, c, v, pos, "fill")
	if v.Known && v.Type.Optional && !c.Model.Nullable {
		report.Add(pos, "E303", fmt.Sprintf("field %s may be null, but column %s of %s may not", wording.Quote(v.Text), wording.Quote(c.Spec.Name.Value), wording.Quote(st.Spec.Table.Value)),
			nullHint(v))
		v.Known = false
	}
	return v
}

// nullHint says how a value that may be null fits a column that may not be.
func nullHint(v draft.Value) string {
	switch f := v.Model.Field; {
	case v.Model.Patch():
		return `remove "optional": the field may still be absent; or make the column nullable`
	case f == nil || f.Type.Kind == model.Object || f.Type.Elem != nil:
		return "make the field required, or make the column nullable"
	}
	return "make the field required, make the column nullable, or give the field a default in place of \"optional\""
}

// checkType checks which columns a type may fill (E302). Does says what the value is to do with
// the column: "fill" or "be compared with".
func checkType(report *syntax.Diagnostics, c *draft.Column, v draft.Value, pos syntax.Pos, does string) draft.Value {
	if c.Broken {
		v.Known = false
	}
	if !v.Known {
		return v
	}
	switch v.Model.Kind {
	case model.FieldValue, model.ElemValue, model.ResultValue:
		if ok, hint := typeword.Converts(v.Type, c.Model.Type); !ok {
			report.Add(pos, "E302", fmt.Sprintf("field %s (%s) cannot %s column %s (%s)", wording.Quote(v.Text), typeword.Text(v.Type), does, wording.Quote(c.Spec.Name.Value), c.Spec.Type.Word), hint)
			v.Known = false
		} else if wide := unbounded(c.Model.Type); v.Model.Kind == model.ResultValue && v.Type.Kind != model.Enum && wide != "" {
			report.Add(pos, "E302", fmt.Sprintf("%s (%s) cannot %s column %s (%s): nothing checks whether a result fits it",
				v.Text, typeword.Text(v.Type), does, wording.Quote(c.Spec.Name.Value), c.Model.Type), "use "+wide)
			v.Known = false
		}
	case model.NowValue:
		if c.Model.Type.Kind != model.ColTimestamptz {
			report.Add(pos, "E302", fmt.Sprintf("now, a time with zone, cannot fill column %s (%s)", wording.Quote(c.Spec.Name.Value), c.Spec.Type.Word), "use timestamptz")
			v.Known = false
		}
	case model.PositionValue:
		if ok, _ := typeword.Converts(v.Type, c.Model.Type); !ok {
			report.Add(pos, "E302", fmt.Sprintf("the position in the list (int32) cannot %s column %s (%s)", does, wording.Quote(c.Spec.Name.Value), c.Spec.Type.Word), "use integer or bigint")
			v.Known = false
		}
	}
	return v
}

// unbounded is the type to use in place of one that does not hold every value of those that fill
// it; "" if it does. Postgres refuses such a value, or rounds, pads or cuts it. Fields are checked
// before they get there, but a result is not: its call has been made.
func unbounded(t model.ColType) string {
	switch {
	case t.Kind == model.ColSmallint:
		return "integer"
	case t.Kind == model.ColReal:
		return "double precision"
	case t.Kind == model.ColNumeric && t.Precision > 0:
		return "numeric"
	case t.Kind == model.ColVarchar || t.Kind == model.ColChar:
		return "text"
	}
	return ""
}
