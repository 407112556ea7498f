package gocode

import "github.com/idemgen/idemgen/internal/gen/model"

// patch writes the statements that read dst, a patch of a value of type t.
func (d *decoder) patch(g *group, dst string, t model.FieldType) {
	method, scalar := "Patches", "Patch"
	if t.Optional {
		method, scalar = "OptPatches", "OptPatch"
	}
	t.Optional = false
	if !composed(t) {
		g.Add(text(dst + " =").Add(strictjson(scalar).Call(text("s"), d.one(t))))
		return
	}
	g.If(strictjson(method).Call(text("s"), text("&%s.State", dst))).BlockFunc(func(g *group) {
		if t.Kind == model.List {
			d.recall(g, dst+".Value", t)
		}
		d.read(g, dst+".Value", t)
	})
}
