package avromsg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/avro"
)

// tree is a schema as nodes.
type tree struct {
	root    *avro.SchemaNode
	named   map[string]*avro.SchemaNode           // by full name
	names   map[*avro.SchemaNode]*avro.SchemaNode // what nodes are that are a name only
	logical []string                              // types that say what values mean, in the order of the schema
	// defaults are those of fields, as they are written.
	defaults map[*avro.SchemaField][]byte
}

func treeOf(s *avro.Schema) (*tree, error) {
	t := &tree{root: s.Root(), named: map[string]*avro.SchemaNode{}, names: map[*avro.SchemaNode]*avro.SchemaNode{}, defaults: map[*avro.SchemaField][]byte{}}
	t.note(t.root)
	for n := range t.names {
		is, err := n.Schema()
		if err != nil {
			return nil, err
		}
		t.names[n] = t.named[FullName(is.Root())]
	}
	return t, nil
}

// setDefaults finds out what the defaults of fields are. The library fills in what a default
// leaves out, at every depth, and chooses the type of a union, as Java's does: it encodes a record
// without the field.
func (t *tree) setDefaults() error {
	for _, n := range t.named {
		for i := range n.Fields {
			f := &n.Fields[i]
			if !f.HasDefault {
				continue
			}
			value, err := defaultOf(f)
			if err != nil {
				return fmt.Errorf("field %s of %s: its default is not a value of its type: %w", f.Name, FullName(n), err)
			}
			t.defaults[f] = value
		}
	}
	return nil
}

func defaultOf(f *avro.SchemaField) ([]byte, error) {
	alone := avro.SchemaNode{Type: "record", Name: "idemgen.Default", Fields: []avro.SchemaField{*f}}
	schema, err := alone.Schema()
	if err != nil {
		return nil, err
	}
	return schema.AppendEncode([]byte{}, map[string]any{})
}

// note notes what has a name in a schema, and what its values mean.
func (t *tree) note(n *avro.SchemaNode) {
	if n.LogicalType != "" {
		t.logical = append(t.logical, fmt.Sprintf("%s(%d,%d)", n.LogicalType, n.Precision, n.Scale))
	}
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
func (t *tree) find(name string) (found *avro.SchemaNode) {
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

// Of is what a node of the schema is, which may be a name of it only; nil of nil.
func (t *tree) Of(n *avro.SchemaNode) *avro.SchemaNode {
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
func (t *tree) Branches(n *avro.SchemaNode) (all []Branch) {
	for i := range n.Branches {
		is := t.Of(&n.Branches[i])
		if is.Type != "null" {
			all = append(all, branchOf(is))
		}
	}
	return all
}

func branchOf(is *avro.SchemaNode) Branch {
	switch is.Type {
	case "record", "error", "enum", "fixed":
		full := FullName(is)
		return Branch{short(full), full, is}
	}
	return Branch{is.Type, is.Type, is}
}

// IsRecord reports whether values are records.
func IsRecord(n *avro.SchemaNode) bool { return n.Type == "record" || n.Type == "error" }

// Nullable reports whether null is a value.
func Nullable(n *avro.SchemaNode) bool {
	return n.Type == "null" || n.Type == "union" && slices.ContainsFunc(n.Branches, func(b avro.SchemaNode) bool { return b.Type == "null" })
}

// FullName is the name of a record, an enum or a fixed with its namespace.
func FullName(n *avro.SchemaNode) string {
	if n.Namespace == "" || strings.Contains(n.Name, ".") {
		return n.Name
	}
	return n.Namespace + "." + n.Name
}
