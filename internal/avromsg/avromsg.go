// Package avromsg opens Avro values as JSON, as decoders of a spec read it, and packs JSON into
// Avro, as tests send it. It must not import any other package of this module.
//
// Members have the names of the fields in the schema. A field that is null is left out. A union of
// several types is an object: its member "type" has the name of the type, and the member of that
// name has the value. Decimals are numbers, dates and timestamps texts as in ISO 8601, bytes
// base64, and times of day and durations what they are without their logical type.
package avromsg

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/twmb/avro"
)

// Type is the type of a topic's values. Any goroutine may use it.
type Type struct {
	Root   *avro.SchemaNode
	Number uint32 // in frames that Pack makes
	schema *avro.Schema
	named  map[string]*avro.SchemaNode           // by full name
	names  map[*avro.SchemaNode]*avro.SchemaNode // what nodes are that are a name only
}

// New returns the type of a schema, or of what has that name in it; "" is all of it. It is a
// record, or a union of several records.
func New(schema, name string) (*Type, error) {
	parsed, err := avro.Parse(schema)
	if err != nil {
		return nil, err
	}
	t := &Type{Root: parsed.Root(), schema: parsed, named: map[string]*avro.SchemaNode{}, names: map[*avro.SchemaNode]*avro.SchemaNode{}}
	t.note(t.Root)
	for n := range t.names {
		is, err := n.Schema()
		if err != nil {
			return nil, err
		}
		t.names[n] = t.named[FullName(is.Root())]
	}
	if name != "" {
		if t.Root = t.find(name); t.Root == nil {
			return nil, fmt.Errorf("there is no type %s in it, or several", name)
		}
		if t.schema, err = t.Root.Schema(); err != nil {
			return nil, err
		}
	}
	if !IsRecord(t.Root) && (t.Root.Type != "union" || slices.ContainsFunc(t.Root.Branches, func(b avro.SchemaNode) bool { return !IsRecord(t.Of(&b)) }) || len(t.Root.Branches) < 2) {
		return nil, fmt.Errorf("its values are no record, and no union of records")
	}
	t.Number = crc32.ChecksumIEEE(t.schema.Canonical())>>1 | 1
	return t, nil
}

// IsRecord reports whether values are records.
func IsRecord(n *avro.SchemaNode) bool { return n.Type == "record" || n.Type == "error" }

// note notes what has a name in a schema.
func (t *Type) note(n *avro.SchemaNode) {
	switch n.Type {
	case "record", "error", "enum", "fixed":
		t.named[FullName(n)] = n
	case "null", "boolean", "int", "long", "float", "double", "bytes", "string", "array", "map", "union":
	default:
		t.names[n] = nil
	}
	for i := range n.Fields {
		t.note(&n.Fields[i].Type)
	}
	for i := range n.Branches {
		t.note(&n.Branches[i])
	}
	if n.Items != nil {
		t.note(n.Items)
	}
	if n.Values != nil {
		t.note(n.Values)
	}
}

// find returns what has a name, which may lack its namespace; nil if there is none, or several.
func (t *Type) find(name string) (found *avro.SchemaNode) {
	if n := t.named[name]; n != nil {
		return n
	}
	for full, n := range t.named {
		if short(full) != name {
			continue
		}
		if found != nil {
			return nil
		}
		found = n
	}
	return found
}

// FullName is the name of a record, an enum or a fixed with its namespace.
func FullName(n *avro.SchemaNode) string {
	if n.Namespace == "" || strings.Contains(n.Name, ".") {
		return n.Name
	}
	return n.Namespace + "." + n.Name
}

func short(full string) string { return full[strings.LastIndex(full, ".")+1:] }

// Of is what a node of the schema is, which may be a name of it only.
func (t *Type) Of(n *avro.SchemaNode) *avro.SchemaNode {
	if is := t.names[n]; is != nil {
		return is
	}
	return n
}

// Branch is a type of a union, by the name that it has in JSON.
type Branch struct {
	Name string
	Full string // with its namespace
	Is   *avro.SchemaNode
}

// Branches are the types of a union beside null.
func (t *Type) Branches(n *avro.SchemaNode) (all []Branch) {
	for i := range n.Branches {
		is := t.Of(&n.Branches[i])
		name := is.Type
		switch is.Type {
		case "null":
			continue
		case "record", "error", "enum", "fixed":
			name = FullName(is)
		}
		all = append(all, Branch{short(name), name, is})
	}
	return all
}

// Nullable reports whether null is a value.
func Nullable(n *avro.SchemaNode) bool {
	return n.Type == "null" || n.Type == "union" && slices.ContainsFunc(n.Branches, func(b avro.SchemaNode) bool { return b.Type == "null" })
}

// Written is how values are opened that were written with another schema.
type Written struct {
	by      *avro.Schema
	unknown string // the name of a record that a union does not have; else ""
}

// Written finds out how values are opened that were written with a schema, the last one; before it
// are those that it refers to, each behind those that it refers to itself. An error says why they
// cannot be opened. Of a record that a union does not have only the member "type" is opened.
func (t *Type) Written(schemas []string) (*Written, error) {
	var known avro.SchemaCache
	var writer *avro.Schema
	for _, text := range schemas {
		var err error
		if writer, err = known.Parse(text); err != nil {
			return nil, err
		}
	}
	root := writer.Root()
	has := func(b Branch) bool { return b.Name == short(root.Name) }
	if t.Root.Type == "union" && IsRecord(root) && !slices.ContainsFunc(t.Branches(t.Root), has) {
		return &Written{by: writer, unknown: short(root.Name)}, nil
	}
	by, err := avro.Resolve(writer, t.schema)
	if err != nil {
		return nil, err
	}
	return &Written{by: by}, nil
}

// Own is how values are opened that were written with the schema of the type.
func (t *Type) Own() *Written { return &Written{by: t.schema} }

// Open returns a value as JSON, appended to into.
func (t *Type) Open(into, value []byte, as *Written) ([]byte, error) {
	var is any
	rest, err := as.by.Decode(value, &is, avro.TaggedUnions())
	if err != nil { // whose text may have a part of the value
		at := ""
		if where, ok := errors.AsType[*avro.SemanticError](err); ok && where.Field != "" {
			at = ", at " + where.Field
		}
		return nil, fmt.Errorf("it is no %s%s", t.name(), at)
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("it is longer than a %s", t.name())
	}
	if as.unknown != "" {
		return append(append(append(into, `{"type":"`...), as.unknown...), `"}`...), nil
	}
	return t.append(into, t.Root, is)
}

// name is the name of the type, for people.
func (t *Type) name() string {
	if IsRecord(t.Root) {
		return FullName(t.Root)
	}
	var names []string
	for _, b := range t.Branches(t.Root) {
		names = append(names, b.Full)
	}
	return strings.Join(names, " or ")
}

const (
	magic      = 0
	frameBytes = 5 // the zero byte and the number of the schema
)

// ErrFrame is of a value that no serializer of Confluent's registry wrote.
var ErrFrame = errors.New("it does not begin with a zero byte and the number of a schema")

// Frame returns the number of the schema with which a framed value was written, and the value.
func Frame(value []byte) (number uint32, rest []byte, err error) {
	if len(value) < frameBytes || value[0] != magic {
		return 0, nil, ErrFrame
	}
	return uint32(value[1])<<24 | uint32(value[2])<<16 | uint32(value[3])<<8 | uint32(value[4]), value[frameBytes:], nil
}

// framed is a frame with the number of a schema.
func framed(number uint32) []byte {
	return []byte{magic, byte(number >> 24), byte(number >> 16), byte(number >> 8), byte(number)}
}

// Layout is the schema without what values do not depend on.
func (t *Type) Layout() string { return string(t.schema.Canonical()) }

// Text is the schema.
func (t *Type) Text() string { return t.schema.String() }
