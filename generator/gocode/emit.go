package gocode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// emits writes what an event sends, behind its steps. What stands under a step with each is
// written there, for each element.
func emits(g *group, e *model.Event) error {
	for _, em := range e.Emits {
		if of := em.Under.Of; of != nil && of.Each != nil {
			continue
		}
		if em.Each == nil {
			if err := emit(g, em); err != nil {
				return err
			}
			continue
		}
		list := "e." + em.Each.GoName
		elem := slices.ContainsFunc(em.Set, func(s model.Filled) bool { return s.Value.Kind == model.ElemValue })
		index := slices.ContainsFunc(em.Set, func(s model.Filled) bool { return s.Value.Kind == model.PositionValue })
		var err error
		g.For(text(loopHead(list, elem, index, scalarElement(em.Each)))).BlockFunc(func(g *group) {
			if elem && !scalarElement(em.Each) {
				elementOf(g, em.Each, list)
			}
			err = emit(g, em)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// emitted are the emits under a step that has each.
func emitted(s *model.Step) (all []*model.Emit) {
	if s.Each == nil {
		return nil
	}
	for _, em := range s.Event.Emits {
		if em.Under.Of == s {
			all = append(all, em)
		}
	}
	return all
}

// emit writes one event that is sent.
func emit(g *group, em *model.Emit) error {
	var fields []code
	for _, set := range em.Set {
		v, err := sentValue(em, set)
		if err != nil {
			return err
		}
		fields = append(fields, pair(set.Field.GoName, v))
	}
	args := []code{text("b"), text("m"), text("&p.outbox"), composite(text("&"+em.Of.GoName), fields)}
	if !em.Asks() {
		g.Add(call(outVar(em.Of)+".Send", args...))
		return nil
	}
	of := em.Under.Of
	otherwise := "false"
	if em.Under.Else {
		otherwise = "true"
	}
	g.Add(call(outVar(em.Of)+".SendIf", append(args, lit("idem."+of.GoName), text("&p."+rowsField(of)), text(otherwise))...))
	return nil
}

// sentValue is the Go expression of a value, as its field holds it.
func sentValue(em *model.Emit, set model.Filled) (code, error) {
	to := set.Field.Type
	if set.Value.Kind == model.ConstValue {
		some := to
		some.Optional = false
		c, err := constant(some, set.Value.Const)
		if err != nil || !to.Optional || nilable(to) {
			return c, err
		}
		return text("new").Call(bareType(some).(*expr).Clone().Call(c)), nil
	}
	from, src := valueType(em, set.Value), emitSource(em, set.Value)
	switch {
	case from.Kind == to.Kind && from.Optional == to.Optional:
		return text(src), nil
	case from.Kind == model.Int32 && to.Kind == model.Int64 && from.Optional:
		return wire("Wide").Call(text(src)), nil
	case from.Kind == model.Int32 && to.Kind == model.Int64:
		src = "int64(" + src + ")"
	case from.Kind == model.Enum && to.Kind == model.String && from.Optional:
		return text("(*string)(%s)", src), nil
	case from.Kind == model.Enum && to.Kind == model.String:
		src = "string(" + src + ")"
	}
	switch {
	case !to.Optional:
		return text(src), nil
	case to.Kind == model.Map:
		return wire("NotNilMap").Call(text(src)), nil
	case nilable(to):
		return wire("NotNil").Call(text(src)), nil
	}
	return text("new(%s)", src), nil
}

// valueType is the type of what an emit sends.
func valueType(em *model.Emit, v model.Value) model.FieldType {
	switch {
	case v.Kind == model.PositionValue:
		return model.FieldType{Kind: model.Int32}
	case v.Field != nil:
		return v.Field.Type
	}
	return *eachOf(em).Type.Elem
}

// eachOf is the list for whose elements an emit runs: its own, or that of the step above it.
func eachOf(em *model.Emit) *model.Field {
	if em.Under.Of != nil && em.Under.Of.Each != nil {
		return em.Under.Of.Each
	}
	return em.Each
}

func emitSource(em *model.Emit, v model.Value) string {
	each := eachOf(em)
	switch {
	case v.Kind == model.PositionValue:
		return "int32(i + 1)"
	case v.Kind == model.FieldValue:
		return valueOf(v.Field)
	case v.Kind == model.ResultValue:
		return "e.result." + v.Field.GoName
	case v.Field != nil:
		return "v." + v.Field.GoName
	case !scalarElement(each) && !each.Type.Elem.Optional:
		return "*v"
	}
	return "v"
}
