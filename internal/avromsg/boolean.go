package avromsg

import (
	"encoding/binary"
	"strings"

	"github.com/twmb/avro"
)

// The library reads every byte of a boolean that is not 1 as false, as Java's does. Avro has two:
// another byte means that the value was written with another schema.

// misread reports whether a value, which the library can decode, has a boolean that is neither 0
// nor 1, and in which field.
func (w *Written) misread(value []byte) (at string, bad bool) {
	if !w.booleans {
		return "", false
	}
	r := wireReader{tree: w.tree, rest: value}
	r.value(w.root)
	if r.field != "" {
		at = ", at " + r.field
	}
	return at, r.bad
}

// wireReader passes over a value that the library can decode.
type wireReader struct {
	*tree
	rest  []byte
	field string // path of the first bad boolean
	bad   bool
}

func (r *wireReader) value(n *avro.SchemaNode) {
	switch n = r.Of(n); n.Type {
	case "boolean":
		r.bad = r.rest[0] > 1
		r.rest = r.rest[1:]
	case "int", "long", "enum":
		r.long()
	case "float":
		r.rest = r.rest[4:]
	case "double":
		r.rest = r.rest[8:]
	case "fixed":
		r.rest = r.rest[n.Size:]
	case "bytes", "string":
		r.rest = r.rest[r.long():]
	case "union":
		r.value(&n.Branches[r.long()])
	case "array":
		r.blocks(func() { r.value(n.Items) })
	case "map":
		r.blocks(func() {
			r.rest = r.rest[r.long():]
			r.value(n.Values)
		})
	case "record", "error":
		for i := range n.Fields {
			if r.value(&n.Fields[i].Type); r.bad {
				r.field = strings.TrimSuffix(n.Fields[i].Name+"."+r.field, ".")
				return
			}
		}
	}
}

func (r *wireReader) long() int64 {
	v, n := binary.Varint(r.rest)
	r.rest = r.rest[n:]
	return v
}

// blocks passes over the blocks of an array or a map; one whose count is negative has its size
// behind that.
func (r *wireReader) blocks(one func()) {
	for {
		n := r.long()
		if n < 0 {
			n = -n
			r.long()
		}
		if n == 0 {
			return
		}
		for range n {
			if one(); r.bad {
				return
			}
		}
	}
}
