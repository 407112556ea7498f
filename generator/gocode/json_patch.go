package gocode

import "github.com/idemgen/idemgen/generator/model"

// patch writes the statements that read dst, a patch of a value of type t.
func (d *decoder) patch(g *group, dst string, t model.FieldType) {
	method, scalar := "Patches", "Patch"
	if t.Optional {
		method, scalar = "OptPatches", "OptPatch"
	}
	t.Optional = false
	if !composed(t) {
		g.Add(text(dst + " =").Add(strictjson(scalar).Call(text("s"), scalarFunc(t))))
		return
	}
	g.If(text("s.%s(&%s.State)", method, dst)).BlockFunc(func(g *group) {
		if t.Kind == model.List {
			d.recall(g, dst+".Value", t)
		}
		d.read(g, dst+".Value", t)
	})
}

// scalarFunc is a function that reads a value of type t.
func scalarFunc(t model.FieldType) code {
	if t.Kind == model.Enum || t.Notation.Unit() != 0 && t.Kind == model.Timestamp {
		return oneLine(nil, goType(t), jsonScalar(t))
	}
	if t.Notation == model.EpochDays {
		return text("s.EpochDays")
	}
	return text("s." + kinds[t.Kind].read)
}
