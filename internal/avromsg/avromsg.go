// Package avromsg opens Avro values as JSON, as decoders of a spec read it, and packs JSON into
// Avro, as tests send it. It must not import any package of this module but asjson and
// frame.
//
// A value is decoded with the schema that it was written with, and its members have the names of
// the schema of the type. A field that is null is left out, and so is one that the type does not
// have; one that the value lacks is its default. A union of several types is an object: its member
// "type" has the name of the type, and the member of that name has the value. Decimals are
// numbers, dates and timestamps texts as in ISO 8601, bytes and durations base64, and times of day
// numbers in the unit of the type.
package avromsg

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/twmb/avro"

	"github.com/idemgen/idemgen/internal/asjson"
)

// Type is the type of a topic's values. Any goroutine may use it.
type Type struct {
	*tree
	Root   *avro.SchemaNode
	Number uint32 // in frames that Pack makes
	schema *avro.Schema
	own    *Written
}

// New returns the type of a schema, or of what has that name in it; "" is all of it. It is a
// record, or a union of several records.
func New(schema, name string) (*Type, error) {
	parsed, err := avro.Parse(schema)
	if err != nil {
		return nil, err
	}
	t := &Type{schema: parsed}
	if t.tree, err = treeOf(parsed); err != nil {
		return nil, err
	}
	if err := t.setDefaults(); err != nil {
		return nil, err
	}
	t.Root = t.root
	if name != "" {
		if t.Root = t.find(name); t.Root == nil {
			return nil, fmt.Errorf("it has no type %s, or several", name)
		}
		if t.schema, err = t.Root.Schema(); err != nil {
			return nil, err
		}
	}
	union := t.Root.Type == "union" && len(t.Root.Branches) > 1 && !slices.ContainsFunc(t.Root.Branches, func(b avro.SchemaNode) bool { return !IsRecord(t.Of(&b)) })
	if !IsRecord(t.Root) && !union && !isScalar(t.Root) {
		return nil, errors.New("its values are neither records nor a union of records nor single values")
	}
	own := *t.tree
	own.root = t.Root
	t.own = &Written{tree: &own, schema: t.schema}
	t.Number = crc32.ChecksumIEEE(t.schema.Canonical())>>1 | 1
	return t, nil
}

// Written is how values are opened that were written with a schema.
type Written struct {
	*tree
	schema *avro.Schema
	plans  plans
}

// Written finds out how values are opened that were written with a schema, the last one; before it
// are those that it refers to, each behind those that it refers to itself. An error says why they
// cannot be opened.
func (t *Type) Written(schemas []string) (*Written, error) {
	var known avro.SchemaCache
	var w Written
	var err error
	for _, text := range schemas {
		if w.schema, err = known.Parse(withoutMistaken(text)); err != nil {
			return nil, err
		}
	}
	w.tree, err = treeOf(w.schema)
	return &w, err
}

// isScalar reports whether a value holds no others, as a record key may.
func isScalar(n *avro.SchemaNode) bool {
	return slices.Contains([]string{"boolean", "int", "long", "float", "double", "bytes", "fixed", "string", "enum"}, n.Type)
}

// Records are the full names of the records that values are.
func (t *Type) Records() (all []string) {
	switch {
	case IsRecord(t.Root):
		return []string{FullName(t.Root)}
	case isScalar(t.Root):
		return nil
	}
	for _, b := range t.Branches(t.Root) {
		all = append(all, b.Full)
	}
	return all
}

// Own is how values are opened that were written with the schema of the type.
func (t *Type) Own() *Written { return t.own }

// Fits says where values of a schema are not what the type's schema has, by the rules of Avro.
// They may be opened nevertheless; nil if they are.
func (t *Type) Fits(w *Written) error { return avro.CheckCompatibility(w.schema, t.schema) }

// Open returns a value as JSON, appended to into.
func (t *Type) Open(into, value []byte, as *Written) ([]byte, error) {
	out, _, err := t.OpenWithin(into, value, as, 0)
	return out, err
}

// OpenWithin is Open for a value that may become so many bytes of JSON; 0 is any number. It also
// says of values in the JSON, by their positions, why a field cannot read them.
func (t *Type) OpenWithin(into, value []byte, as *Written, most int) (out []byte, why map[int]string, err error) {
	o := &opening{Writer: &asjson.Writer{Most: most, Start: len(into)}, wire: wire{tree: as.tree, rest: value}, reads: t.tree, plans: &as.plans}
	wrote, err := o.branch(as.root)
	if err == nil {
		if !t.opens(wrote) {
			return nil, nil, fmt.Errorf("it is of type %s, not %s", as.name(wrote), t.name(t.Root))
		}
		out, err = o.appendValue(into, wrote, t.Root)
	}
	if bad, is := errors.AsType[*malformed](err); is {
		return nil, nil, fmt.Errorf("it is not a valid %s%w", as.name(as.root), bad)
	}
	if err == nil && len(o.rest) > 0 {
		err = fmt.Errorf("it has bytes after the %s", as.name(as.root))
	}
	if err == nil {
		err = o.Check(out)
	}
	if err != nil {
		return nil, nil, err
	}
	return out, o.Why, nil
}

// opens reports whether t opens values of a type. A union opens every record: one that it lacks
// is an event that the spec may not have.
func (t *Type) opens(wrote *avro.SchemaNode) bool {
	if isScalar(t.Root) {
		return isScalar(wrote) && matches(t.Root, wrote)
	}
	return IsRecord(wrote) && (t.Root.Type == "union" || matches(t.Root, wrote))
}

// name is the name of a type, for people.
func (t *tree) name(n *avro.SchemaNode) string {
	if n = t.Of(n); n.Type != "union" {
		return branchOf(n).Full
	}
	var names []string
	for _, b := range t.Branches(n) {
		names = append(names, b.Full)
	}
	return strings.Join(names, " or ")
}

// Layout is what of the schema values depend on that were written with it.
func (t *Type) Layout() string {
	return string(t.schema.Canonical()) + " " + strings.Join(t.logical, " ")
}

// Text is the schema.
func (t *Type) Text() string { return t.schema.String() }
