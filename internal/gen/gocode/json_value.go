package gocode

import (
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// mapOf reads a map, in the memory of dst.
func (d *decoder) mapOf(dst string, t model.FieldType) code {
	return strictjson("Map").Call(text("s"), text(dst), d.one(*t.Elem))
}

// one is a function that reads a value of type t: a method of the reader, or one written here.
func (d *decoder) one(t model.FieldType) code {
	if !composed(t) && t.Kind != model.Enum && t.Notation == model.Usual {
		return text("s." + kinds[t.Kind].read)
	}
	switch {
	case t.Kind == model.Map:
		return oneLine(nil, goType(t), d.mapOf("nil", t))
	case !composed(t):
		return oneLine(nil, goType(t), jsonScalar(t))
	}
	return closure(nil, []code{named("v", goType(t))}, func(g *group) {
		d.read(g, "v", t)
		g.Return(text("v"))
	})
}

// recall gives an optional list or object, which is there, its memory; the list is not
// nil then, even if it is empty.
func (d *decoder) recall(g *group, dst string, t model.FieldType) {
	field, direct := strings.CutPrefix(dst, d.recv+".")
	direct = direct && !strings.ContainsAny(field, ".[")
	switch {
	case t.Kind == model.List && direct:
		g.Add(text(dst + " =").Add(qual("slices", "Grow").Call(text("old.%s[:0]", field), lit(1))))
	case t.Kind == model.List:
		g.Add(text(dst + " =").Add(qual("slices", "Grow").Call(text("%s[:0]", dst), lit(1))))
	case direct:
		g.If(text("%s = old.%s; %s == nil", dst, field, dst)).Block(text("%s = new(%s)", dst, t.Named.GoName))
	default:
		g.Add(text("%s = new(%s)", dst, t.Named.GoName))
	}
}

// element reads one element of the list dst.
func (d *decoder) element(g *group, dst string, t model.FieldType) {
	if !composed(t) {
		g.Add(text(dst+" = append").Call(text(dst), jsonScalar(t)))
		return
	}
	last := dst + "[len(" + dst + ")-1]"
	if t.Optional {
		g.Add(text("%s = append(%s, nil)", dst, dst))
	} else {
		g.Add(text(dst + " =").Add(qual("slices", "Grow").Call(text(dst), lit(1))).Add(text("[:len(%s)+1]", dst)))
	}
	if t.Kind == model.List && !t.Optional {
		g.Add(text("%s = %s[:0]", last, last))
	}
	d.read(g, last, t)
}

// jsonScalar reads a value that is neither an object, a list nor a map.
func jsonScalar(t model.FieldType) *expr {
	switch {
	case t.Kind == model.Enum && t.Optional:
		return strictjson("OptEnum").Call(text("s"), text(valuesVar(t.Named)))
	case t.Kind == model.Enum:
		return strictjson("Enum").Call(text("s"), text(valuesVar(t.Named)))
	case !t.Optional:
		return readScalar("s", t)
	case nilable(t):
		return strictjson("OptSlice").Call(text("s"), text("s."+kinds[t.Kind].read))
	case t.Notation.Unit() != 0 && t.Kind == model.Timestamp, t.Notation == model.Unscaled:
		return strictjson("Opt").Call(text("s"), oneLine(nil, goType(model.FieldType{Kind: t.Kind}), readScalar("s", t)))
	case t.Notation == model.EpochDays:
		return strictjson("Opt").Call(text("s"), text("s.EpochDays"))
	case t.Notation == model.WithScale:
		return strictjson("Opt").Call(text("s"), text("s.DecimalStruct"))
	case t.Notation == model.Array:
		return strictjson("Opt").Call(text("s"), text("s."+kinds[t.Kind].read+"Array"))
	}
	return strictjson("Opt").Call(text("s"), text("s."+kinds[t.Kind].read))
}
