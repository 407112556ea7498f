package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// value is a value of a step. Known is false if it was refused or its declaration was.
type value struct {
	model model.Value
	typ   model.FieldType // of a field or element
	text  string          // as the spec names it: "total", "each.sku", "each"
	known bool
	// constAt is where a constant stands.
	constAt schema.Pos
}

func fieldValue(f *model.Field, text string) value {
	if f == nil {
		return value{}
	}
	return value{model: model.Value{Kind: model.FieldValue, Field: f}, typ: f.Type, text: text, known: true}
}

// resolveValue looks up a value that the spec writes for a column.
func resolveValue(report *schema.Diagnostics, st *step, v schema.Value, c *column) value {
	switch v.Kind {
	case schema.FieldValue:
		return fieldValue(use(report, st.event, schema.Text{Value: v.Name, Pos: v.Pos}, fieldOrConstant), v.Name)
	case schema.MemberValue:
		return memberValue(report, st, v)
	case schema.ElementValue:
		if !needsEach(report, st, v, "each") || st.elem == nil {
			return value{}
		}
		if st.elem.Kind == model.Object {
			report.Add(v.Pos, "E308", fmt.Sprintf("each is a whole %s here; a column takes one of its fields", typeText(*st.elem)), "for example each."+st.elem.Named.Fields[0].Name)
			return value{}
		}
		return value{model: model.Value{Kind: model.ElemValue}, typ: *st.elem, text: "each", known: true}
	case schema.ConstantValue:
		return constantValue(report, v, c)
	case schema.NowValue:
		return value{model: model.Value{Kind: model.NowValue}, text: "now", known: true}
	case schema.PositionValue:
		if !needsEach(report, st, v, "{each: position}") {
			return value{}
		}
		return value{model: model.Value{Kind: model.PositionValue}, typ: model.FieldType{Kind: model.Int32}, text: "each: position", known: true}
	}
	return value{}
}

// needsEach reports a value of an element in a step without each.
func needsEach(report *schema.Diagnostics, st *step, v schema.Value, text string) bool {
	if st.spec.Each == nil {
		report.Add(v.Pos, "E308", fmt.Sprintf("%s means nothing here: the step has no each", text), "name the list: each: "+st.event.listField())
		return false
	}
	return true
}

// listHint says how a field gets many rows.
func (e *event) listHint() string {
	if name := e.listField(); name[0] != '<' {
		return "did you mean " + quote(name) + "?"
	}
	return "drop each for one row, or declare the field as a list: list(string), or list(T) of a type with fields"
}

// listField is a list that the event has, for an example.
func (e *event) listField() string {
	for _, n := range e.scope.names {
		if n.field != nil && n.field.Type.Kind == model.List && !n.field.Type.Optional {
			return n.text
		}
	}
	return "<field with a list>"
}

func memberValue(report *schema.Diagnostics, st *step, v schema.Value) value {
	text := "each." + v.Name
	if !needsEach(report, st, v, text) || st.elem == nil {
		return value{}
	}
	if st.elem.Kind != model.Object {
		report.Add(v.Pos, "E308", fmt.Sprintf("the elements of %s are %s and have no fields", quote(st.model.Each.Name), typeText(*st.elem)), `write "each" for the element itself`)
		return value{}
	}
	var names []string
	for _, m := range st.elem.Named.Fields {
		if m.Name == v.Name {
			return elemValue(m, text)
		}
		names = append(names, "each."+m.Name)
	}
	report.Add(v.Pos, "E207", fmt.Sprintf("type %s has no field %s", quote(typeText(*st.elem)), quote(v.Name)), choices(text, "fields", names))
	return value{}
}

func elemValue(m *model.Field, text string) value {
	return value{model: model.Value{Kind: model.ElemValue, Field: m}, typ: m.Type, text: text, known: true}
}

// constantValue reads a constant by the type of its column.
func constantValue(report *schema.Diagnostics, v schema.Value, c *column) value {
	if c.broken {
		return value{}
	}
	norm, why := columnConstant(c.model.Type, v.Const.Value)
	if why != fits && isNow(v.Const.Value) {
		why = "for the transaction's time write {now: true}"
	}
	if why != fits {
		report.Add(v.Const.Pos, "E304", fmt.Sprintf("constant %s does not fit column %s of type %s", quote(v.Const.Value), quote(c.spec.Name.Value), c.spec.Type.Word), string(why))
		return value{}
	}
	return value{model: model.Value{Kind: model.ConstValue, Const: &model.Constant{Text: norm}}, known: true, constAt: v.Const.Pos}
}

// checkFill checks type and NULL of a value that goes into a column, and returns it, as
// unknown if it cannot.
func checkFill(report *schema.Diagnostics, st *step, c *column, v value, pos schema.Pos) value {
	v = checkType(report, c, v, pos, "fill")
	if v.known && v.typ.Optional && !c.model.Nullable {
		report.Add(pos, "E303", fmt.Sprintf("field %s may be null, but column %s of %s may not", quote(v.text), quote(c.spec.Name.Value), quote(st.spec.Table.Value)),
			"make the field required, make the column nullable, or give the field a default")
		v.known = false
	}
	return v
}

// checkType checks the fourth column of LANGUAGE section 5 (E302). Does says what the
// value is to do with the column: "fill" or "be compared with".
func checkType(report *schema.Diagnostics, c *column, v value, pos schema.Pos, does string) value {
	if c.broken {
		v.known = false
	}
	if !v.known {
		return v
	}
	switch v.model.Kind {
	case model.FieldValue, model.ElemValue:
		if ok, hint := converts(v.typ, c.model.Type); !ok {
			report.Add(pos, "E302", fmt.Sprintf("field %s (%s) cannot %s column %s (%s)", quote(v.text), typeText(v.typ), does, quote(c.spec.Name.Value), c.spec.Type.Word), hint)
			v.known = false
		}
	case model.NowValue:
		if c.model.Type.Kind != model.ColTimestamptz {
			report.Add(pos, "E302", fmt.Sprintf("now, a time with zone, cannot fill column %s (%s)", quote(c.spec.Name.Value), c.spec.Type.Word), "use timestamptz")
			v.known = false
		}
	case model.PositionValue:
		if ok, _ := converts(v.typ, c.model.Type); !ok {
			report.Add(pos, "E302", fmt.Sprintf("the position in the list (int32) cannot %s column %s (%s)", does, quote(c.spec.Name.Value), c.spec.Type.Word), "use integer or bigint")
			v.known = false
		}
	}
	return v
}
