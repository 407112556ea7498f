package gocode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// jsonFormat reads records whose payload is JSON by package strictjson.
type jsonFormat struct{}

const strictjsonPath = wirePath + "/strictjson"

func (jsonFormat) library() (path, name string) { return strictjsonPath, "strictjson" }

func (jsonFormat) reader() *expr { return strictjson("Scanner") }

func (jsonFormat) envelope() *expr { return strictjson("CloudEvents") }

func (jsonFormat) strictness() string { return "strictjson.Scanner" }

func (jsonFormat) event(g *group, e *model.Event) error {
	d := decoder{recv: "e", typ: e.GoName, fields: e.Fields}
	for _, by := range []*model.Discriminator{e.Topic.EventType, e.Topic.EventVersion} {
		if inPayload(by) && e.Topic.Payload.RefuseUnknown {
			d.known = append(d.known, by.Path)
		}
	}
	d.body(g)
	return d.err
}

func (jsonFormat) object(f *file, t *model.Type) {
	f.fn("", "v *"+t.GoName, decodeName(t), []code{named("s", pointer(strictjson("Scanner")))}, nil, func(g *group) {
		d := decoder{recv: "v", typ: t.GoName, fields: t.Fields}
		d.body(g)
	})
}

// recordKey writes the struct that holds the parts, and a method for each set of parts that
// events read.
func (jsonFormat) recordKey(f *file, t *model.Topic) {
	fields := map[*model.KeyPart]*model.Field{}
	doc := fmt.Sprintf("%s is the record key of topic %q.", keyType(t), t.Name)
	f.structType(doc, keyType(t), func(g *group) {
		for _, p := range t.RecordKey.Parts {
			field := &model.Field{Name: p.Name, GoName: p.GoName, Doc: p.Doc, Type: p.Type, Source: model.Source{Kind: model.FromPayload, Path: p.Path}}
			fields[p] = field
			structField(g, field)
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
func jsonText(src string) *expr { return strictjson("JSONText").Call(text("s"), text(src)) }

func strictjson(name string) *expr { return qual(strictjsonPath, name) }

// decoder writes the body of a decode method: one pass over the members of a document, which
// sets the fields of recv.
type decoder struct {
	recv   string // receiver
	typ    string // its type
	fields []*model.Field

	known [][]string // the members that name the event's type and version, if these must not be unknown

	nodes  []*node // in the order of the fields
	resets []code  // elements of the literal that the receiver starts from
	reuses bool    // the receiver's old content is looked at again
	err    error
}

// node is a member of the document that fields are read from, or that leads to such.
type node struct {
	name     string
	seen     string // its flag: whether it was met
	required string // what it is called if it is missing; "" = it may be
	fields   []*model.Field
	children []*node
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

// tree sorts fields by their paths.
func (d *decoder) tree(place func(*model.Field) (path []string, required, ok bool)) *node {
	root := &node{}
	for _, f := range d.fields {
		path, required, ok := place(f)
		if !ok {
			continue
		}
		n := d.at(root, path)
		n.fields = append(n.fields, f)
		if n != root && required {
			n.required = strings.Join(path, ".")
		}
	}
	for _, path := range d.known {
		if len(root.children) == 0 {
			break
		}
		d.at(root, path)
	}
	d.nameFlags()
	return root
}

// at finds or makes the node at a path.
func (d *decoder) at(n *node, path []string) *node {
	for _, name := range path {
		at := slices.IndexFunc(n.children, func(c *node) bool { return c.name == name })
		if at < 0 {
			at = len(n.children)
			n.children = append(n.children, &node{name: name})
			d.nodes = append(d.nodes, n.children[at])
		}
		n = n.children[at]
	}
	return n
}

// nameFlags names the flag of each member: after the field that is read from it, else after
// the member.
func (d *decoder) nameFlags() {
	used := map[string]bool{}
	for _, n := range d.nodes {
		if len(n.fields) > 0 {
			n.seen = n.fields[0].GoName
			used[n.seen] = true
		}
	}
	for _, n := range d.nodes {
		if n.seen == "" {
			n.seen = flagName(n.name)
			for used[n.seen] {
				n.seen += "2"
			}
			used[n.seen] = true
		}
	}
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
	reads := len(n.fields)
	if len(n.children) > 0 {
		reads++
	}
	if reads == 0 {
		g.Add(strictjson("Known").Call(text("s")))
		return
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
	if n.name == "" && n.seen == "" { // the document
		d.members(g, n, read)
		return
	}
	g.If(text("!s.Null()")).BlockFunc(func(g *group) { d.members(g, n, read) })
}

func (d *decoder) members(g *group, n *node, read func(*group, *model.Field)) {
	g.For(call("s.Object"), call("s.Member"), text("")).Block(text("switch s.Name()").BlockFunc(func(g *group) {
		for _, c := range n.children {
			g.Case(lit(c.name)).BlockFunc(func(g *group) {
				g.Add(text("s.Once(&seen.%s)", c.seen))
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
