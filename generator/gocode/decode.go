package gocode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// decoder writes the body of a decode method: one pass over the members of a document, which
// sets the fields of recv.
type decoder struct {
	recv   string // receiver
	typ    string // its type
	seen   string // variable that holds the members met
	fields []*model.Field

	names  []string // what Require asks for, by index of the member; "" may be absent
	resets []code   // elements of the literal that the receiver starts from
	reuses bool     // the receiver's old content is looked at again
	err    error
}

// node is a member of the document that fields are read from, or that leads to such.
type node struct {
	name     string
	index    int
	fields   []*model.Field
	children []*node
}

// body writes everything that is read from the document.
func (d *decoder) body(g *group) {
	root := d.tree(func(f *model.Field) (path []string, required, ok bool) {
		return f.Source.Path, !f.Type.Optional && f.Default == nil, f.Source.Kind == model.FromPayload
	})
	d.start(g)
	d.document(g, root, func(g *group, f *model.Field) { d.read(g, d.recv+"."+f.GoName, f.Type) })
}

// tree sorts fields by their paths. Members are numbered as fields come, so that a field
// that is added at the end changes no number.
func (d *decoder) tree(place func(*model.Field) (path []string, required, ok bool)) *node {
	root := &node{index: -1}
	for _, f := range d.fields {
		path, required, ok := place(f)
		if !ok {
			continue
		}
		n := root
		for _, name := range path {
			at := slices.IndexFunc(n.children, func(c *node) bool { return c.name == name })
			if at < 0 {
				at = len(n.children)
				n.children = append(n.children, &node{name: name, index: len(d.names)})
				d.names = append(d.names, "")
			}
			n = n.children[at]
		}
		n.fields = append(n.fields, f)
		if n != root && required {
			d.names[n.index] = strings.Join(path, ".")
		}
	}
	return root
}

// start resets the receiver: defaults set, lists emptied but their memory kept.
func (d *decoder) start(g *group) {
	for _, f := range d.fields {
		switch {
		case f.Default != nil:
			value, err := constant(f.Type, f.Default)
			if err != nil {
				d.err = err
			}
			if f.Type.Optional {
				d.err = errOptionalDefault
			}
			d.resets = append(d.resets, pair(f.GoName, value))
		case f.Type.Kind == model.List && !f.Type.Optional:
			d.resets = append(d.resets, text("%s: %s.%s[:0]", f.GoName, d.recv, f.GoName))
		case composed(f.Type) && f.Type.Optional:
			d.reuses = true
		case f.Type.Kind == model.Object && keepsMemory(f.Type.Named):
			d.resets = append(d.resets, text("%s: %s.%s", f.GoName, d.recv, f.GoName)) // its decode resets it
		}
	}
	if d.reuses {
		g.Add(text("old := *" + d.recv))
	}
	g.Add(text("*" + d.recv + " =").Add(composite(text(d.typ), d.resets)))
}

// keepsMemory reports whether values of an object type hold lists or pointers to objects,
// whose memory the next value may use.
func keepsMemory(t *model.Type) bool {
	return slices.ContainsFunc(t.Fields, func(m *model.Field) bool {
		return m.Type.Kind == model.List || m.Type.Kind == model.Object && (m.Type.Optional || keepsMemory(m.Type.Named))
	})
}

// document reads the tree under root, calling read for each field's value.
func (d *decoder) document(g *group, root *node, read func(*group, *model.Field)) {
	if len(d.names) > 0 {
		g.Add(text("var %s", d.seen).Add(wire("Members")))
	}
	if len(root.fields)+len(root.children) > 0 {
		d.value(g, root, read)
	}
	if slices.ContainsFunc(d.names, func(n string) bool { return n != "" }) {
		var names []code
		for _, n := range d.names {
			names = append(names, lit(n))
		}
		g.Add(multi(d.seen+".Require", "s", names))
	}
}

// value reads one value as often as fields and deeper members ask for it.
func (d *decoder) value(g *group, n *node, read func(*group, *model.Field)) {
	reads := len(n.fields)
	if len(n.children) > 0 {
		reads++
	}
	if reads > 1 {
		g.Add(text("pos := s.Pos()"))
	}
	for i, f := range n.fields {
		if i > 0 {
			g.Add(text("s.Seek(pos)"))
		}
		read(g, f)
	}
	if len(n.children) == 0 {
		return
	}
	if reads > 1 {
		g.Add(text("s.Seek(pos)"))
	}
	if n.index < 0 {
		d.members(g, n, read)
		return
	}
	g.If(text("!s.Null()")).BlockFunc(func(g *group) { d.members(g, n, read) })
}

func (d *decoder) members(g *group, n *node, read func(*group, *model.Field)) {
	g.For(call("s.Object"), call("s.Member"), text("")).Block(text("switch s.Name()").BlockFunc(func(g *group) {
		for _, c := range n.children {
			g.Case(lit(c.name)).BlockFunc(func(g *group) {
				g.Add(call(d.seen+".Add", text("s"), lit(c.index)))
				d.value(g, c, read)
			})
		}
		g.Default().Block(call("s.Skip"))
	}))
}

// read writes the statements that read a value of type t into dst.
func (d *decoder) read(g *group, dst string, t model.FieldType) {
	switch {
	case t.Optional && composed(t):
		g.If(text("!s.Null()")).BlockFunc(func(g *group) {
			d.recall(g, dst, t)
			some := t
			some.Optional = false
			d.read(g, dst, some)
		})
	case t.Kind == model.Object:
		g.Add(text("%s.decode(s)", dst))
	case t.Kind == model.List:
		g.For(call("s.Array"), call("s.Element"), text("")).BlockFunc(func(g *group) { d.element(g, dst, *t.Elem) })
	default:
		g.Add(text(dst + " =").Add(scan("s", t)))
	}
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
		g.Add(text(dst+" = append").Call(text(dst), scan("s", t)))
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

// scan reads one scalar from src, a Scanner or a Text.
func scan(src string, t model.FieldType) *expr {
	method := kinds[t.Kind].scan
	if t.Optional {
		method = "Opt" + method
	}
	if t.Kind != model.Enum {
		return call(src + "." + method)
	}
	typ := t.Named.GoName
	if t.Optional {
		typ = "(*" + typ + ")"
	}
	return text(typ).Call(call(src+"."+method, text(textsVar(t.Named))))
}
