package gocode

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// check is one call of wire.Fit: a value and the bound of its column.
type check struct {
	method string
	value  model.Value
	each   *model.Field
	bounds [2]int // none where the method takes no more
	// elements says that the value is a list, each of whose elements has the bound.
	elements bool
}

// none is a bound that a method of wire.Fit does not take.
const none = -1

// checks are the bounded columns of a step, each value and bound once.
func checks(s *model.Step, done map[check]bool) []check {
	var found []check
	for _, a := range slices.Concat(s.Set, s.Where) {
		if a.Value.Kind != model.FieldValue && a.Value.Kind != model.ElemValue {
			continue
		}
		c := check{value: a.Value, each: s.Each, bounds: [2]int{none, none}}
		t := a.Column.Type
		if t.Kind == model.ColArray {
			c.elements, t = true, t.Element()
		}
		switch {
		case t.Kind == model.ColVarchar:
			c.method, c.bounds[0] = "Varchar", t.Len
		case t.Kind == model.ColChar:
			c.method, c.bounds[0] = "Char", t.Len
		case t.Kind == model.ColNumeric && t.Precision > 0:
			c.method, c.bounds = "Numeric", [2]int{t.Precision, t.Scale}
		case t.Kind == model.ColSmallint:
			c.method = "Smallint"
		case t.Kind == model.ColReal:
			c.method = "Real"
		}
		always := c // the same check for every record, whatever its lists hold
		always.each = nil
		if c.method == "" || done[c] || done[always] && c.value.Kind == model.FieldValue || enumFits(s.TypeOf(a.Value), t) {
			continue
		}
		done[c] = true
		found = append(found, c)
	}
	return found
}

// enumFits reports whether every text of an enum fits the column, so that no check is
// needed.
func enumFits(t model.FieldType, c model.ColType) bool {
	return t.Kind == model.Enum && !slices.ContainsFunc(t.Named.Enum, func(v model.EnumValue) bool {
		n := utf8.RuneCountInString(v.Text)
		return n > c.Len || c.Kind == model.ColChar && n < c.Len
	})
}

// fits reports whether the event has values that may not fit their columns.
func fits(e *model.Event) bool {
	return slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return len(checks(s, map[check]bool{})) > 0 })
}

func fitsMethod(f *file, e *model.Event) {
	if !fits(e) {
		return
	}
	f.fn("fits checks values against their columns.", "e *"+e.GoName, "fits", []code{named("f", pointer(wire("Fit")))}, nil, func(g *group) {
		done := map[check]bool{}
		for _, s := range e.Steps {
			found := checks(s, done)
			if len(found) == 0 {
				continue
			}
			if s.Each == nil {
				for _, c := range found {
					c.add(g, s, valueOf(c.value.Field), fieldPath(c.value.Field))
				}
				continue
			}
			eachFits(g, s, found)
		}
	})
}

// eachFits checks the rows of a list: the event's own values once, unless the list is
// empty, then each element.
func eachFits(g *group, s *model.Step, found []check) {
	list := "e." + s.Each.GoName
	elems := slices.Clone(found)
	elems = slices.DeleteFunc(elems, func(c check) bool { return c.value.Kind == model.FieldValue })
	if len(elems) < len(found) {
		g.If(text("len(%s) > 0", list)).BlockFunc(func(g *group) {
			for _, c := range found {
				if c.value.Kind == model.FieldValue {
					c.add(g, s, valueOf(c.value.Field), fieldPath(c.value.Field))
				}
			}
		})
	}
	if len(elems) == 0 {
		return
	}
	g.For(text("i := range " + list)).BlockFunc(func(g *group) {
		g.Add(text("v := &%s[i]", list))
		g.Add(text("f.In(%q, i)", fieldPath(s.Each)))
		for _, c := range elems {
			if c.value.Field == nil {
				c.add(g, s, "*v", "")
			} else {
				c.add(g, s, "v."+c.value.Field.GoName, fieldPath(c.value.Field))
			}
		}
	})
	g.Add(text("f.Out()"))
}

// add writes the check of src, a field or an element.
func (c check) add(g *group, s *model.Step, src, path string) {
	if c.elements {
		g.Add(wire("FitEach").Call(text("f"), text("f."+c.method), lit(path), text(src)))
		return
	}
	t := s.TypeOf(c.value)
	if !t.Optional {
		src = address(src)
	}
	args := []code{lit(path), optText(t, src)}
	for _, bound := range c.bounds {
		if bound != none {
			args = append(args, lit(bound))
		}
	}
	g.Add(call("f."+c.method, args...))
}

// address is the pointer to src.
func address(src string) string {
	if pointer, ok := strings.CutPrefix(src, "*"); ok {
		return pointer
	}
	return "&" + src
}
