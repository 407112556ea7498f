package gocode

import "github.com/idemgen/idemgen/internal/gen/model"

// row writes one row of a step: one line per parameter. A single value needs no variable.
func row(g *group, s *model.Step, declared bool) bool {
	params := s.Params()
	if t := s.TypeOf(params[0].Value); len(params) == 1 && !composed(t) && !t.Optional {
		method, arg := rowValue(s, params[0])
		g.Add(call("p."+rowsField(s)+".Row()."+method, arg))
		return declared
	}
	if declared {
		g.Add(text("r = p.%s.Row()", rowsField(s)))
	} else {
		g.Add(text("r := p.%s.Row()", rowsField(s)))
	}
	for _, a := range params {
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

// rowValue returns the method of wire.Rows and its argument for one parameter.
func rowValue(s *model.Step, a model.Assign) (method string, arg code) {
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
				returnAppended(g, src, t, 1)
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
