package oracle

import "github.com/idemgen/idemgen/generator/model"

// coded reads a value of a type with a codec as the codec of the tests does: from its text, as if
// it stood in a header. It is that of a string, or the JSON as it is written.
func (d *decoder) coded(t model.FieldType, n *node, path string) value {
	text := string(d.src[n.start:n.end])
	if n.kind == stringNode {
		text = n.text
	}
	switch {
	case n.bad != "":
		d.fail(n.start, path, "must be text without half surrogate pairs and U+0000")
	case d.isMarker(n):
		d.fail(n.start, path, whyMarked)
	default:
		return d.text(uncoded(t), text, n.start, path)
	}
	return nil
}

// uncoded is the type of a text that a codec of the tests reads. It has no null to give.
func uncoded(t model.FieldType) model.FieldType {
	if t.Codec != nil {
		t.Codec, t.Optional = nil, false
	}
	return t
}
