package oracle

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// decoder turns nodes and texts into values and collects every fault on the way. The
// fault that counts is the one that stands first in the record.
type decoder struct {
	src    []byte
	depth  int
	marker string // of values that are not there; "" if there is none
	// why says why fields cannot read values of the payload, by their positions.
	why    map[int]string
	faults []*fault
}

func (d *decoder) fail(at int, path, detail string) {
	d.faults = append(d.faults, &fault{class: ClassDecode, path: path, detail: detail, at: at})
}

const (
	whyMissing = "required, but missing"
	whyNull    = "must not be null"
)

// field decodes a present or absent (nil) member. A missing one is noticed where the
// object that should hold it closes, and not at all if the text breaks before that.
func (d *decoder) field(f *model.Field, n *node, path string, holder *node) value {
	if n != nil && f.Patch && d.isMarker(n) {
		return unsent{}
	}
	if n != nil {
		return d.node(f.Type, n, path)
	}
	switch {
	case f.Patch:
		return unsent{}
	case f.Default != nil:
		return d.text(asDefault(f.Type), f.Default.Text, holder.end, path)
	case !f.Type.Optional && !holder.truncated:
		d.fail(holder.end-1, path, whyMissing)
	}
	return nil
}

func (d *decoder) node(t model.FieldType, n *node, path string) value {
	if n.truncated {
		// The syntax error inside it is reported by the parser; what stands before
		// that error may still be wrong.
		switch {
		case t.Kind == model.Object && n.kind == objectNode:
			return d.object(t.Named, n, path)
		case t.Kind == model.List && n.kind == arrayNode:
			return d.list(*t.Elem, n, path)
		case t.Kind == model.Map && n.kind == objectNode:
			return d.mapping(*t.Elem, n, path)
		}
		return nil
	}
	if n.kind == nullNode {
		if !t.Optional {
			d.fail(n.start, path, whyNull)
		}
		return nil
	}
	switch t.Kind {
	case model.Object:
		return d.object(t.Named, n, path)
	case model.List:
		return d.list(*t.Elem, n, path)
	case model.Map:
		return d.mapping(*t.Elem, n, path)
	case model.JSON:
		return d.json(n, path)
	}
	return d.scalar(t, n, path)
}

func (d *decoder) object(t *model.Type, n *node, path string) value {
	if n.kind != objectNode {
		d.fail(n.start, path, "must be an object")
		return nil
	}
	o := &object{typ: t}
	for _, f := range t.Fields {
		o.values = append(o.values, d.member(f, n, path))
	}
	return o
}

func (d *decoder) list(elem model.FieldType, n *node, path string) value {
	if n.kind != arrayNode {
		d.fail(n.start, path, "must be a list")
		return nil
	}
	l := list{}
	for i, e := range n.elems {
		l = append(l, d.node(elem, e, path+"["+strconv.Itoa(i)+"]"))
	}
	return l
}

// mapping reads an object whose names are data, so that no path holds one: a fault inside is one
// of the whole map.
func (d *decoder) mapping(elem model.FieldType, n *node, path string) value {
	if n.kind != objectNode {
		d.fail(n.start, path, "must be an object")
		return nil
	}
	before := len(d.faults)
	m := mapping{}
	for _, e := range n.members {
		_, twice := m[e.name]
		switch {
		case e.bad != "":
			d.fail(e.at, path, e.bad)
		case twice:
			d.fail(e.at, path, "holds a name twice")
		case e.node != nil:
			m[e.name] = d.node(elem, e.node, path)
		}
	}
	for _, f := range d.faults[before:] {
		f.path = path
	}
	return m
}

// json keeps the value as sent. Text that Postgres cannot hold is refused anywhere in it.
func (d *decoder) json(n *node, path string) value {
	if why := badText(n); why != "" {
		d.fail(n.start, path, why)
	} else if d.isMarker(n) {
		d.fail(n.start, path, whyMarked)
	}
	return jsonText(d.src[n.start:n.end])
}

func badText(n *node) (why string) {
	if n.bad != "" {
		return n.bad
	}
	for _, e := range n.elems {
		if why := badText(e); why != "" {
			return why
		}
	}
	for _, m := range n.members {
		if m.bad != "" {
			return m.bad
		}
		if why := badText(m.node); why != "" {
			return why
		}
	}
	return ""
}

// find follows the member names from n. It returns nil where one is absent or on the way
// null, refuses one that appears twice, and goes through objects only.
func (d *decoder) find(n *node, names []string, path string) (found *node, foundPath string) {
	for i, name := range names {
		if n.kind != objectNode {
			if !n.truncated && (n.kind != nullNode || i == 0) {
				d.fail(n.start, path, "must be an object")
			}
			return nil, join(path, names[i:]...)
		}
		path = join(path, name)
		var next *node
		for j, m := range n.members {
			switch {
			case m.name != name:
			case slices.ContainsFunc(n.members[:j], func(o member) bool { return o.name == name }):
				d.fail(m.at, path, "appears twice")
			default:
				next = m.node
			}
		}
		if next == nil {
			return nil, join(path, names[i+1:]...)
		}
		n = next
	}
	return n, path
}

func join(path string, names ...string) string {
	if path != "" {
		names = append([]string{path}, names...)
	}
	return strings.Join(names, ".")
}

func (d *decoder) scalar(t model.FieldType, n *node, path string) value {
	wrong := func(want string) value {
		d.fail(n.start, path, "must be "+want)
		return nil
	}
	if n.bad != "" {
		return wrong("text without half surrogate pairs and U+0000")
	}
	if d.isMarker(n) {
		return wrong(whyMarked)
	}
	switch {
	case t.Notation == model.Array:
		if n.kind != arrayNode {
			return wrong("an array")
		}
		v, why := d.parts(t, n)
		if why != "" {
			return wrong(why)
		}
		return v
	case t.Notation == model.Unscaled:
		if n.kind != stringNode {
			return wrong("base64")
		}
		v, why := unscaled(n.text, t.Scale)
		if why != "" {
			return wrong(why)
		}
		return v
	case t.Notation == model.WithScale:
		v, why := scaledNode(n)
		if why != "" {
			return wrong(why)
		}
		return v
	case t.Kind == model.Bool:
		if n.kind != boolNode {
			return wrong("true or false")
		}
	case t.Kind == model.Int32 || t.Kind == model.Int64 || t.Kind == model.Decimal:
		if n.kind != numberNode && n.kind != stringNode {
			return wrong("a number")
		}
	case t.Kind == model.Float64 || t.Notation.Unit() != 0:
		if n.kind != numberNode {
			return wrong("a number")
		}
	default:
		if why := d.why[n.start]; why != "" && n.kind == numberNode {
			d.fail(n.start, path, why)
			return nil
		}
		if n.kind != stringNode {
			return wrong("a string")
		}
	}
	return d.text(t, n.text, n.start, path)
}

// text reads a value from its text: a header, a record key, a default, or what stands
// in a JSON string or number.
func (d *decoder) text(t model.FieldType, text string, at int, path string) value {
	v, why := parseText(t, text)
	if t.Kind == model.JSON || t.Kind == model.Object || t.Elem != nil {
		return d.nested(t, text, at, path)
	}
	if why != "" {
		d.fail(at, path, why)
		return nil
	}
	return v
}

// nested reads JSON that stands as text in a header or a default.
func (d *decoder) nested(t model.FieldType, text string, at int, path string) value {
	inner := &decoder{src: []byte(text), depth: d.depth}
	root, err := parseJSON(inner.src, d.depth)
	if err != nil {
		d.fail(at, path, err.detail)
		return nil
	}
	v := inner.node(t, root, path)
	if f := first(inner.faults); f != nil {
		d.fail(at, f.path, f.detail)
		return nil
	}
	return v
}

// parts reads a date or a local time whose parts are the elements of an array.
func (d *decoder) parts(t model.FieldType, n *node) (value, string) {
	const why = "an array of year, month, day and so on"
	text, least, most := "", 5, 7
	if t.Kind == model.Date {
		least, most = 3, 3
	}
	if len(n.elems) < least || len(n.elems) > most {
		return nil, why
	}
	for i, e := range n.elems {
		digits := 2
		switch i {
		case 0:
			digits = 4
		case 6:
			digits = 9
		}
		number, err := parseInteger(e.text, 64)
		if e.kind != numberNode || err != nil || number < 0 || len(e.text) > digits {
			return nil, why
		}
		text += []string{"", "-", "-", "T", ":", ":", "."}[i] + fmt.Sprintf("%0*d", digits, number)
	}
	if t.Kind == model.Date {
		v, err := parseDay(text)
		return v, reason(err)
	}
	if len(n.elems) == 5 {
		text += ":00"
	}
	v, err := parseWall(text)
	return v, reason(err)
}

// unscaled reads base64 of the digits of a number as an integer in two's complement, the most
// significant byte first.
func unscaled(text string, scale int) (value, string) {
	v, why := parseBase64(text)
	raw, _ := v.([]byte)
	if why != "" || len(raw) == 0 || len(raw) > 416 || scale > maxDigits || scale < -maxDigits {
		return nil, "base64 of an integer"
	}
	n := new(big.Int)
	for i, b := range raw {
		digit := int64(b)
		if i == 0 && b > 127 {
			digit -= 256
		}
		n.Add(n.Mul(n, big.NewInt(256)), big.NewInt(digit))
	}
	d, err := parseDecimal(n.String()+"e"+strconv.Itoa(-scale), maxDigits)
	return d, reason(err)
}

// scaledNode reads an object with the digits of a number and its scale.
func scaledNode(n *node) (value, string) {
	const why = "an object with scale and value"
	var scale, digits *node
	for _, m := range n.members {
		switch {
		case m.name == "scale" && scale == nil:
			scale = m.node
		case m.name == "value" && digits == nil:
			digits = m.node
		case m.name == "scale" || m.name == "value":
			return nil, why
		}
	}
	if scale == nil || digits == nil || scale.kind != numberNode || digits.kind != stringNode || digits.bad != "" {
		return nil, why
	}
	after, err := parseInteger(scale.text, 32)
	if err != nil {
		return nil, why
	}
	return unscaled(digits.text, int(after))
}

func reason(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// asDefault is a field's type for the text of its default: bytes are base64 there, and what has
// the notation of a document is as it is without.
func asDefault(t model.FieldType) model.FieldType {
	if t.Kind == model.Bytes || t.Notation.OfDocuments() {
		t.Notation = model.Usual
	}
	return t
}

// member decodes a field below a holder.
func (d *decoder) member(f *model.Field, holder *node, path string) value {
	n, at := d.find(holder, f.Source.Path, path)
	return d.field(f, n, at, holder)
}
