package messages

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/avro"

	"github.com/idemgen/idemgen/internal/avromsg"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// readAvro reads an Avro schema, or what has a name in it.
func readAvro(file readFile, path, name string, framed bool) (*read, error) {
	text, err := file(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	is, err := avromsg.New(string(text), name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	shapes := avroShapes{is, map[*avro.SchemaNode]*shape{}}
	r := &read{schema: bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), packing: avromsg.Sample{Of: is, Framed: framed}, shape: shapes.of(is.Root), number: is.Number}
	if !framed {
		r.layout = map[string]string{"": is.Layout()}
	}
	return r, shapes.clash()
}

// avroShapes are records by their nodes: one may hold itself.
type avroShapes struct {
	is  *avromsg.Type
	all map[*avro.SchemaNode]*shape
}

// clash says that two types of a union have one name without their namespaces.
func (a avroShapes) clash() error {
	for _, s := range a.all {
		for i, m := range s.members {
			if slices.ContainsFunc(s.members[:i], func(o member) bool { return o.name == m.name }) {
				return fmt.Errorf("a union has two types %s, or one called type", m.name)
			}
		}
	}
	return nil
}

// of is the shape of a node, as package avromsg opens it.
func (a avroShapes) of(n *avro.SchemaNode) *shape {
	if n = a.is.Of(n); a.all[n] != nil {
		return a.all[n]
	}
	s := &shape{says: n.Type}
	if n.LogicalType != "" {
		s.says = n.LogicalType
	}
	a.all[n] = s
	switch n.Type {
	case "union":
		branches := a.is.Branches(n)
		if len(branches) == 1 {
			is := a.of(branches[0].Is)
			a.all[n] = is
			return is
		}
		s.kinds, s.name = []model.Kind{model.Object}, "Union"
		var names []string
		s.members = []member{{name: "type", told: true, is: &shape{says: "the name of a type", kinds: []model.Kind{model.String, model.Enum}}}}
		for _, b := range branches {
			s.members = append(s.members, member{name: b.Name, optional: true, is: a.of(b.Is)})
			names = append(names, b.Full)
		}
		s.says = "a union of " + strings.Join(names, ", ")
		for _, b := range branches {
			s.members[0].is.symbols = append(s.members[0].is.symbols, b.Name)
		}
	case "record", "error":
		s.kinds, s.says, s.name = []model.Kind{model.Object}, "record "+avromsg.FullName(n), short(n.Name)
		for i := range n.Fields {
			f := &n.Fields[i]
			s.members = append(s.members, member{name: f.Name, optional: avromsg.Nullable(a.is.Of(&f.Type)), is: a.of(&f.Type)})
		}
	case "array":
		s.kinds, s.says, s.elem, s.nulls = []model.Kind{model.List}, "an array", a.of(n.Items), avromsg.Nullable(a.is.Of(n.Items))
	case "map":
		s.kinds, s.says, s.elem, s.nulls = []model.Kind{model.Map}, "a map", a.of(n.Values), avromsg.Nullable(a.is.Of(n.Values))
	case "enum":
		s.kinds, s.says, s.name, s.symbols = []model.Kind{model.Enum}, "enum "+avromsg.FullName(n), short(n.Name), n.Symbols
	default:
		s.kinds = avroKinds(n)
		s.number = (n.Type == "int" || n.Type == "long") && s.kinds[0] != model.Date && s.kinds[0] != model.Timestamp && s.kinds[0] != model.LocalTimestamp
	}
	return s
}

// avroKinds are the types that read a value that holds no others.
func avroKinds(n *avro.SchemaNode) []model.Kind {
	switch n.LogicalType {
	case "decimal":
		return []model.Kind{model.Decimal, model.Float64}
	case "date":
		return []model.Kind{model.Date, model.String}
	case "timestamp-millis", "timestamp-micros", "timestamp-nanos":
		return []model.Kind{model.Timestamp, model.String}
	case "local-timestamp-millis", "local-timestamp-micros", "local-timestamp-nanos":
		return []model.Kind{model.LocalTimestamp, model.String}
	case "uuid":
		return []model.Kind{model.UUID, model.String}
	}
	switch n.Type {
	case "boolean":
		return []model.Kind{model.Bool}
	case "int":
		return []model.Kind{model.Int32, model.Int64, model.Decimal, model.Timestamp, model.Date}
	case "long":
		return []model.Kind{model.Int64, model.Decimal, model.Timestamp, model.Date}
	case "float", "double":
		return []model.Kind{model.Float64, model.Decimal}
	case "bytes", "fixed":
		return []model.Kind{model.Bytes}
	case "string":
		return texts
	}
	return nil
}
