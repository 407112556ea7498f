package gocode

import "github.com/idemgen/idemgen/generator/model"

// row writes one row of a step: one line per parameter. A single value needs no variable.
func row(g *group, s *model.Step, declared bool) bool {
	params := s.Params()
	if len(params) == 1 && !composed(s.TypeOf(params[0].Value)) {
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
		g.Add(call("r."+method, arg))
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
		method = "Opt" + method
	}
	return method, plainText(t, src)
}

// jsonValue writes an object or a list into a JSON column.
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
			g.Add(text("p.json = %s.appendJSON(p.json[:0])", src))
		case a.Value.Kind == model.FieldValue:
			g.Add(text("p.json = e.append%s(p.json[:0])", a.Value.Field.GoName))
		default:
			appendElements(g, "p.json", "p.json[:0]", src, *t.Elem, 1)
			g.Add(text("p.json = append(p.json, ']')"))
		}
		g.Add(text("r.%s(p.json)", method))
	}
	if !t.Optional {
		write(g)
		return
	}
	g.If(text(src + " == nil")).Block(text("r.Opt%s(nil)", method)).Else().BlockFunc(write)
}

// buffers reports whether adding the event needs the plan's buffer for JSON.
func (p *pkg) buffers(e *model.Event) bool {
	for _, f := range e.Fields {
		if p.needsJSON(e, f) {
			return true
		}
	}
	for _, s := range e.Steps {
		for _, a := range s.Params() {
			if isJSON(a.Column) && composed(s.TypeOf(a.Value)) {
				return true
			}
		}
	}
	return false
}
