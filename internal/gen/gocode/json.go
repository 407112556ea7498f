package gocode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

const strictjsonPath = wirePath + "/strictjson"

// decodeType writes the method by which an object type is read.
func decodeType(f *file, t *model.Type) {
	f.fn("", "v *"+t.GoName, decodeName(t), []code{named("s", pointer(strictjson("Scanner")))}, nil, func(g *group) {
		d := decoder{recv: "v", typ: t.GoName, fields: t.Fields}
		d.body(g)
	})
}

// recordKeyType writes the struct that holds the parts of a record key that is a document, and a
// method for each set of parts that events read.
func recordKeyType(f *file, t *model.Topic) {
	fields := map[*model.KeyPart]*model.Field{}
	doc := fmt.Sprintf("%s is the record key of topic %q.", keyType(t), t.Name)
	f.structType(doc, keyType(t), func(g *group) {
		for _, p := range t.RecordKey.Parts {
			field := &model.Field{Name: p.Name, GoName: p.GoName, Doc: p.Doc, Type: p.Type, Source: model.Source{Kind: model.FromPayload, Path: p.Path}}
			fields[p] = field
			shown := *field
			if len(p.Path) == 0 {
				shown.Source.Path = []string{p.Name} // the comment of the struct says it
			}
			structField(g, &shown)
		}
	})
	written := map[string]bool{}
	for _, e := range t.Events {
		parts := keyParts(e)
		if len(parts) == 0 || written[keyMethod(e)] {
			continue
		}
		written[keyMethod(e)] = true
		d := decoder{recv: "k", typ: keyType(t)}
		for _, p := range parts {
			d.fields = append(d.fields, fields[p])
		}
		params := []code{named("s", pointer(strictjson("Scanner"))), named("m", pointer(wire("Message")))}
		f.fn("", "k *"+keyType(t), keyMethod(e), params, nil, func(g *group) {
			g.Add(text("s.NextKey(m)"))
			d.body(g)
		})
	}
}

// jsonText reads a wire.Text as a JSON value.
func jsonText(src string) *expr { return strictjson("JSONText").Call(text(src)) }

// jsonResult writes the method that reads a stored result of an effect, which is JSON whatever the
// records are.
func jsonResult(f *file, t *model.Type) {
	f.fn("", "v *"+t.GoName, "decodeResult", []code{text("event string"), text("stored []byte")}, text("error"), func(g *group) {
		g.Return(strictjson("Result").Call(text("event"), text("stored"), text("v."+decodeName(t))))
	})
}

func strictjson(name string) *expr { return qual(strictjsonPath, name) }

// decoder writes the body of a decode method: one pass over the members of a document, which
// sets the fields of recv.
type decoder struct {
	recv   string // receiver
	typ    string // its type
	fields []*model.Field

	nodes  []*node // in the order of the fields
	resets []code  // elements of the literal that the receiver starts from
	reuses bool    // the receiver's old content is looked at again
	err    error
}

// body writes everything that is read from the document.
func (d *decoder) body(g *group) {
	root := d.tree(func(f *model.Field) (path []string, required, ok bool) {
		return f.Source.Path, !f.Type.Optional && f.Default == nil && !f.Patch, f.Source.Kind == model.FromPayload
	})
	d.start(g)
	d.document(g, root, func(g *group, f *model.Field) {
		if f.Patch {
			d.patch(g, d.recv+"."+f.GoName, f.Type)
			return
		}
		d.read(g, d.recv+"."+f.GoName, f.Type)
	})
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
		case f.Patch: // absent
		case f.Type.Kind == model.List && !f.Type.Optional:
			d.resets = append(d.resets, text("%s: %s.%s[:0]", f.GoName, d.recv, f.GoName))
		case f.Type.Kind == model.Map && !f.Type.Optional:
			d.resets = append(d.resets, text("%s: %s.%s", f.GoName, d.recv, f.GoName)) // emptied when it is read
		case composed(f.Type) && f.Type.Optional && f.Type.Kind != model.Map:
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

// keepsMemory reports whether values of an object type hold lists, maps or pointers to objects,
// whose memory the next value may use.
func keepsMemory(t *model.Type) bool {
	return slices.ContainsFunc(t.Fields, func(m *model.Field) bool {
		return m.Type.Elem != nil || m.Type.Kind == model.Object && (m.Type.Optional || keepsMemory(m.Type.Named))
	})
}

// document reads the tree under root, calling read for each field's value.
func (d *decoder) document(g *group, root *node, read func(*group, *model.Field)) {
	if len(d.nodes) > 0 {
		var flags []string
		for _, n := range d.nodes {
			flags = append(flags, n.seen)
		}
		g.Add(text("var seen struct {" + flagList(flags) + " bool }"))
	}
	if len(root.fields)+len(root.children) > 0 {
		d.value(g, root, read)
	}
	for _, n := range d.nodes {
		if n.required != "" {
			g.Add(call("s.Require", text("seen."+n.seen), lit(n.required)))
		}
	}
}

// flagList joins names by commas. A long list stands on lines of its own, and is broken where
// one would become too long.
func flagList(names []string) string {
	const short, most = 60, 80
	if list := " " + strings.Join(names, ", "); len(list) <= short {
		return list
	}
	var out strings.Builder
	length := most
	for i, name := range names {
		if i > 0 {
			out.WriteString(",")
		}
		if length += len(name) + 2; length > most {
			out.WriteString("\n")
			length = 0
		}
		out.WriteString(" " + name)
	}
	return out.String()
}

// value reads one value as often as fields and deeper members ask for it.
func (d *decoder) value(g *group, n *node, read func(*group, *model.Field)) {
	var reads []func()
	for _, f := range n.fields {
		reads = append(reads, func() { read(g, f) })
	}
	switch {
	case len(n.children) > 0 && n.name == "" && n.seen == "": // the document
		reads = append(reads, func() { d.members(g, n, read) })
	case len(n.children) > 0:
		reads = append(reads, func() {
			g.If(text("!s.Null()")).BlockFunc(func(g *group) { d.members(g, n, read) })
		})
	}
	if len(reads) > 1 {
		g.Add(text("pos := s.Pos()"))
	}
	for i, write := range reads {
		if i > 0 {
			g.Add(text("s.Seek(pos)"))
		}
		write()
	}
}

func (d *decoder) members(g *group, n *node, read func(*group, *model.Field)) {
	g.For(call("s.Object"), call("s.Member"), text("")).BlockFunc(func(g *group) {
		g.Switch(call("s.Name")).BlockFunc(func(g *group) {
			for _, c := range n.children {
				g.Case(lit(c.name)).BlockFunc(func(g *group) {
					g.Add(text("s.Once(&seen.%s)", c.seen))
					d.value(g, c, read)
				})
			}
			g.Default().Block(call("s.Skip"))
		})
	})
}

// read writes the statements that read a value of type t into dst.
func (d *decoder) read(g *group, dst string, t model.FieldType) {
	switch {
	case t.Optional && composed(t):
		g.If(text("!s.Null()")).BlockFunc(func(g *group) {
			if t.Kind != model.Map {
				d.recall(g, dst, t)
			}
			some := t
			some.Optional = false
			d.read(g, dst, some)
		})
	case t.Kind == model.Object:
		g.Add(text("%s.%s(s)", dst, decodeName(t.Named)))
	case t.Kind == model.Map:
		g.Add(text(dst + " =").Add(d.mapOf(dst, t)))
	case t.Kind == model.List:
		g.For(call("s.Array"), call("s.Element"), text("")).BlockFunc(func(g *group) { d.element(g, dst, *t.Elem) })
	default:
		g.Add(text(dst + " =").Add(jsonScalar(t)))
	}
}
