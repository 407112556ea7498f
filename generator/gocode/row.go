package gocode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// row writes one row of a step: one line per parameter. A single value needs no variable.
func row(g *group, s *model.Step, declared bool) bool {
	params := s.Params()
	if t := s.TypeOf(params[0].Value); len(params) == 1 && !composed(t) && !t.Optional {
		row := "p." + rowsField(s) + ".Row()"
		if s.Tells || s.Asks {
			g.Add(number(s, row))
			return declared
		}
		method, arg := rowValue(s, params[0])
		g.Add(call(row+"."+method, arg))
		return declared
	}
	if declared {
		g.Add(text("r = p.%s.Row()", rowsField(s)))
	} else {
		g.Add(text("r := p.%s.Row()", rowsField(s)))
	}
	for _, a := range params {
		if a.Value.Kind == model.NumberValue || a.Value.Kind == model.OfValue {
			g.Add(number(s, "r"))
			continue
		}
		t := s.TypeOf(a.Value)
		if composed(t) && isJSON(a.Column) {
			jsonValue(g, s, a)
			continue
		}
		method, arg := rowValue(s, a)
		switch {
		case t.Optional && nilable(t):
			g.Add(wire("SliceOrNull").Call(text("r"), text("r."+method), arg))
		case t.Optional:
			g.Add(wire("OrNull").Call(text("r"), text("r."+method), arg))
		default:
			g.Add(call("r."+method, arg))
		}
	}
	return true
}

// number sets the number by which a row tells or asks.
func number(s *model.Step, row string) code {
	if s.Tells {
		return wire("Number").Call(text(row))
	}
	return wire("NumberOf").Call(text(row), text("&p."+rowsField(s.Under.Of)))
}

// rowValue returns the method of wire.Rows and its argument for one parameter.
func rowValue(s *model.Step, a model.Assign) (method string, arg code) {
	if a.Value.Kind == model.RowValue {
		return "Bool", text("true")
	}
	if a.Value.Kind == model.StepValue {
		return "Int4", lit(1 + slices.Index(s.Statement().Joined, s))
	}
	if a.Column == nil {
		return "Int4", text("1") // only the number of rows counts
	}
	t := s.TypeOf(a.Value)
	src := source(s, a.Value)
	method = kinds[t.Kind].row
	switch {
	case t.Kind == model.List:
		method = kinds[t.Elem.Kind].row + "Array"
	case t.Kind == model.JSON && a.Column.Type.Kind == model.ColJSON:
		method = "JSON"
	}
	if t.Optional {
		return method, optText(t, src)
	}
	return method, plainText(t, src)
}

// jsonValue writes an object, a list or a map into a JSON column.
func jsonValue(g *group, s *model.Step, a model.Assign) {
	t := s.TypeOf(a.Value)
	src := source(s, a.Value)
	method := "JSONB"
	if a.Column.Type.Kind == model.ColJSON {
		method = "JSON"
	}
	write := func(g *group) {
		switch {
		case t.Kind == model.Object:
			g.Add(text("r.Append%s(%s.appendJSON)", method, src))
		case a.Value.Kind == model.FieldValue:
			g.Add(text("r.Append%s(e.append%s)", method, a.Value.Field.GoName))
		default:
			put := closure([]code{text("b []byte")}, []code{text("[]byte")}, func(g *group) {
				stored.returned(g, src, t, 1)
			})
			g.Add(text("r.Append" + method).Call(put))
		}
	}
	if !t.Optional {
		write(g)
		return
	}
	g.If(text(src + " == nil")).Block(text("r.Null(r.%s)", method)).Else().BlockFunc(write)
}

// replacedRow writes the row that says what a step replaces, beside the rows of its elements: the
// list may be empty.
func replacedRow(g *group, s *model.Step, declared bool) {
	if declared {
		g.Add(text("r = p.%s.Row()", rowsField(s)))
	} else {
		g.Add(text("r := p.%s.Row()", rowsField(s)))
	}
	for i, a := range s.Params() {
		if a.Value.Kind == model.OfValue {
			g.Add(number(s, "r"))
			continue
		}
		t := s.TypeOf(a.Value)
		method, arg := rowValue(s, a)
		switch {
		case a.Value.Kind == model.RowValue:
			g.Add(text("r.Bool(false)"))
		case i < sentBy(s.Where):
			g.Add(call("r."+method, arg))
		case composed(t) && a.Column.Type.Kind == model.ColJSON:
			g.Add(text("r.Null(r.JSON)"))
		case composed(t) && isJSON(a.Column):
			g.Add(text("r.Null(r.JSONB)"))
		case t.Kind == model.List || nilable(t):
			g.Add(text("wire.SliceOrNull(r, r.%s, nil)", method))
		default:
			g.Add(text("wire.OrNull(r, r.%s, nil)", method))
		}
	}
}

// sentBy is how many of the values the event sends.
func sentBy(assigns []model.Assign) (n int) {
	for _, a := range assigns {
		if a.Value.Sent() {
			n++
		}
	}
	return n
}
