package avromsg

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/twmb/avro"
)

// wire reads a value that was written with a schema.
type wire struct {
	*tree
	rest  []byte
	depth int // types that skip is in
	empty int // items of arrays that had no bytes
}

const (
	// mostNested is how deep a value may nest that nobody reads.
	mostNested = 1000
	// mostEmpty is how many items of arrays may have no bytes: a few bytes may name any number.
	mostEmpty = 1 << 16
	// mostPath is how long the path in a reason may be, in bytes: a schema may hold itself.
	mostPath = 100
)

// malformed is the error for bytes that are no value of the schema. It contains no byte of them.
type malformed struct {
	fields []string // that the bytes are in, the innermost first
	why    string   // "" is that they are cut off, or out of range
}

func (m *malformed) Error() string {
	text := ""
	for _, name := range slices.Backward(m.fields) {
		if len(text)+len(name) > mostPath {
			text += "..."
			break
		}
		if text != "" {
			text += "."
		}
		text += name
	}
	if text != "" {
		text = ", at " + text
	}
	if m.why != "" {
		text += ": " + m.why
	}
	return text
}

// in returns an error with the field that it is of, if it is about the bytes.
func in(f *avro.SchemaField, err error) error {
	if m, is := err.(*malformed); is {
		m.fields = append(m.fields, f.Name)
	}
	return err
}

func (w *wire) take(n int64) ([]byte, error) {
	if n < 0 || n > int64(len(w.rest)) {
		return nil, &malformed{}
	}
	b := w.rest[:n]
	w.rest = w.rest[n:]
	return b, nil
}

func (w *wire) long() (int64, error) {
	v, n := binary.Varint(w.rest)
	if n <= 0 {
		return 0, &malformed{}
	}
	w.rest = w.rest[n:]
	return v, nil
}

// integer reads an int or a long.
func (w *wire) integer(n *avro.SchemaNode) (int64, error) {
	v, err := w.long()
	if err == nil && n.Type == "int" && (v < math.MinInt32 || v > math.MaxInt32) {
		err = &malformed{}
	}
	return v, err
}

// boolean reads a boolean, which has two bytes: another one means that the value was written with
// another schema. Avro's library for Java reads it as false.
func (w *wire) boolean() (bool, error) {
	b, err := w.take(1)
	if err != nil {
		return false, err
	}
	if b[0] > 1 {
		return false, &malformed{why: "a boolean is neither 0 nor 1"}
	}
	return b[0] == 1, nil
}

// bytes reads a string, bytes or a fixed.
func (w *wire) bytes(n *avro.SchemaNode) ([]byte, error) {
	size := int64(n.Size)
	if n.Type != "fixed" {
		var err error
		if size, err = w.long(); err != nil {
			return nil, err
		}
	}
	return w.take(size)
}

// symbol reads an enum.
func (w *wire) symbol(n *avro.SchemaNode) (string, error) {
	i, err := w.long()
	if err != nil || i < 0 || i >= int64(len(n.Symbols)) {
		return "", &malformed{}
	}
	return n.Symbols[i], nil
}

// branch returns the type of the next value, which is no union.
func (w *wire) branch(n *avro.SchemaNode) (*avro.SchemaNode, error) {
	if n = w.Of(n); n.Type != "union" {
		return n, nil
	}
	i, err := w.long()
	if err != nil || i < 0 || i >= int64(len(n.Branches)) {
		return nil, &malformed{}
	}
	return w.Of(&n.Branches[i]), nil
}

// blocks reads the blocks of an array or a map, one item at a time. A block whose count is
// negative has its size behind that.
func (w *wire) blocks(one func() error) error {
	for {
		n, err := w.long()
		if err == nil && n < 0 {
			n = -n
			_, err = w.long()
		}
		if err != nil || n < 0 {
			return &malformed{}
		}
		if n == 0 {
			return nil
		}
		for range n {
			before := len(w.rest)
			if err := one(); err != nil {
				return err
			}
			if len(w.rest) < before {
				continue
			}
			if w.empty++; w.empty > mostEmpty {
				return &malformed{why: "it has too many items without bytes"}
			}
		}
	}
}

// skip passes over a value.
func (w *wire) skip(n *avro.SchemaNode) error {
	if w.depth++; w.depth > mostNested {
		return &malformed{why: "it " + tooDeep}
	}
	defer func() { w.depth-- }()
	n, err := w.branch(n)
	if err != nil {
		return err
	}
	switch n.Type {
	case "boolean":
		_, err = w.boolean()
	case "int", "long":
		_, err = w.integer(n)
	case "float":
		_, err = w.take(4)
	case "double":
		_, err = w.take(8)
	case "bytes", "string", "fixed":
		_, err = w.bytes(n)
	case "enum":
		_, err = w.symbol(n)
	case "array":
		return w.blocks(func() error { return w.skip(n.Items) })
	case "map":
		return w.blocks(func() error {
			if _, err := w.bytes(mapName); err != nil {
				return err
			}
			return w.skip(n.Values)
		})
	case "record", "error":
		for i := range n.Fields {
			if err := w.skip(&n.Fields[i].Type); err != nil {
				return in(&n.Fields[i], err)
			}
		}
	}
	return err
}

// mapName is the type of the names of a map.
var mapName = &avro.SchemaNode{Type: "string"}

// nested reports whether values of a type hold others.
func nested(n *avro.SchemaNode) bool {
	return IsRecord(n) || n.Type == "array" || n.Type == "map"
}

// short is a name without its namespace.
func short(full string) string { return full[strings.LastIndex(full, ".")+1:] }
