package avromsg

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/twmb/avro"

	"github.com/idemgen/idemgen/internal/frame"
)

// Pack is the value that Open returns as this JSON, or as more of it. Members that the schema does
// not have are left out; what it has and JSON does not is its default, or zero.
func (t *Type) Pack(text []byte) ([]byte, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var value any
	if err := in.Decode(&value); err != nil {
		return nil, err
	}
	is, err := t.fitted(t.Root, value)
	if err != nil {
		return nil, err
	}
	return t.schema.Encode(is)
}

// Sample packs and opens values of the type's own schema, for tests.
type Sample struct {
	Of     *Type
	Framed bool // behind what serializers of Confluent's registry write, with the type's number
}

// Pack is [Type.Pack].
func (s Sample) Pack(text []byte) ([]byte, error) {
	value, err := s.Of.Pack(text)
	if err != nil || !s.Framed {
		return value, err
	}
	return append(frame.Append(nil, s.Of.Number), value...), nil
}

// Open returns a value as JSON, appended to into.
func (s Sample) Open(into, value []byte) ([]byte, error) {
	out, _, err := s.open(into, value)
	return out, err
}

// Why says of values in the JSON, by their positions, why a field cannot read them.
func (s Sample) Why(value []byte) map[int]string {
	_, why, _ := s.open(nil, value)
	return why
}

func (s Sample) open(into, value []byte) (out []byte, why map[int]string, err error) {
	if s.Framed {
		written, rest, err := frame.Split(value)
		if err != nil {
			return nil, nil, err
		}
		if written.Number != s.Of.Number {
			return nil, nil, fmt.Errorf("it was written with schema %v, not with the type's own, %d", written, s.Of.Number)
		}
		value = rest
	}
	return s.Of.OpenWithin(into, value, s.Of.Own(), 0)
}

// misfit says that JSON is none of a type's values.
func misfit(n *avro.SchemaNode, value any) error {
	is := n.Type
	if n.LogicalType != "" {
		is = n.LogicalType
	}
	text, err := json.Marshal(value)
	if err != nil || len(text) > 40 {
		return fmt.Errorf("it is not of type %s", is)
	}
	return fmt.Errorf("%s is not of type %s", text, is)
}

// fitted is what the library encodes for JSON.
func (t *Type) fitted(n *avro.SchemaNode, value any) (any, error) {
	switch n = t.Of(n); n.Type {
	case "union":
		return t.fittedUnion(n, value)
	case "record", "error":
		members, ok := value.(map[string]any)
		if !ok {
			return nil, misfit(n, value)
		}
		return t.fittedRecord(n, members)
	case "array":
		all, ok := value.([]any)
		if !ok {
			return nil, misfit(n, value)
		}
		out := []any{}
		for _, v := range all {
			is, err := t.fitted(n.Items, v)
			if err != nil {
				return nil, err
			}
			out = append(out, is)
		}
		return out, nil
	case "map":
		members, ok := value.(map[string]any)
		if !ok {
			return nil, misfit(n, value)
		}
		out := map[string]any{}
		for name, v := range members {
			is, err := t.fitted(n.Values, v)
			if err != nil {
				return nil, err
			}
			out[name] = is
		}
		return out, nil
	}
	return fittedSingle(n, value)
}

func (t *Type) fittedRecord(n *avro.SchemaNode, members map[string]any) (any, error) {
	out := map[string]any{}
	for i := range n.Fields {
		f := &n.Fields[i]
		value, there := members[f.Name]
		switch {
		case !there && f.HasDefault: // which the library fills in
			continue
		case !there:
			out[f.Name] = t.zero(&f.Type)
			continue
		}
		is, err := t.fitted(&f.Type, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		out[f.Name] = is
	}
	return out, nil
}

func (t *Type) fittedUnion(n *avro.SchemaNode, value any) (any, error) {
	branches := t.Branches(n)
	if value == nil {
		return nil, nil
	}
	name := ""
	if len(branches) > 1 {
		members, _ := value.(map[string]any)
		name, _ = members["type"].(string)
		value = members[name]
	}
	for _, b := range branches {
		if len(branches) == 1 || b.Name == name {
			is, err := t.fitted(b.Is, value)
			if err != nil && len(branches) > 1 {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return map[string]any{b.Full: is}, err
		}
	}
	return nil, fmt.Errorf("its union has no type %q", name)
}

// fittedSingle is fitted for a value that holds no others.
func fittedSingle(n *avro.SchemaNode, value any) (any, error) {
	number, isNumber := value.(json.Number)
	text, isText := value.(string)
	switch n.Type {
	case "null":
		return nil, nil
	case "boolean":
		if _, ok := value.(bool); ok {
			return value, nil
		}
	case "int", "long":
		if isText && n.LogicalType != "" {
			if at, err := time.Parse(layoutOf(n), text); err == nil {
				return at, nil
			}
		} else if isNumber {
			if v, err := number.Int64(); err == nil && (n.Type == "long" || v == int64(int32(v))) {
				return v, nil
			}
		}
	case "float", "double":
		if isNumber {
			return number.Float64()
		}
		if is, ok := map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)}[text]; ok {
			return is, nil
		}
	case "bytes", "fixed":
		switch {
		case n.LogicalType == "decimal" && isNumber:
			return fittedDecimal(n, number.String())
		case n.LogicalType == "decimal" && isText:
			return fittedDecimal(n, text)
		case n.LogicalType == "uuid":
			return value, nil
		case isText:
			return base64.StdEncoding.DecodeString(text)
		}
	case "string":
		if isNumber {
			return number.String(), nil
		}
		if isText {
			return text, nil
		}
	case "enum":
		if isText && !slices.Contains(n.Symbols, text) {
			return nil, fmt.Errorf("%q is not one of %s", text, strings.Join(n.Symbols, ", "))
		}
		if isText {
			return text, nil
		}
	}
	return nil, misfit(n, value)
}

// fittedDecimal is a decimal that has as many digits as its type.
func fittedDecimal(n *avro.SchemaNode, text string) (any, error) {
	v, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, misfit(n, text)
	}
	v.Mul(v, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.Scale)), nil)))
	switch {
	case !v.IsInt():
		return nil, fmt.Errorf("%s has more than %d digits after the point", text, n.Scale)
	case len(new(big.Int).Abs(v.Num()).String()) > n.Precision:
		return nil, fmt.Errorf("%s has more than %d digits", text, n.Precision)
	}
	return text, nil
}

// zero is a value of a type, with as little in it as there can be.
func (t *Type) zero(n *avro.SchemaNode) any {
	n = t.Of(n)
	if Nullable(n) {
		return nil
	}
	switch n.Type {
	case "union":
		first := t.Branches(n)[0]
		return map[string]any{first.Full: t.zero(first.Is)}
	case "record", "error":
		is, _ := t.fittedRecord(n, nil) // nothing in it is refused
		return is
	case "array":
		return []any{}
	case "map":
		return map[string]any{}
	case "boolean":
		return false
	case "string":
		if n.LogicalType == "uuid" {
			return "00000000-0000-0000-0000-000000000000"
		}
		return ""
	case "enum":
		return n.Symbols[0]
	case "bytes", "fixed":
		if n.LogicalType == "decimal" {
			return "0"
		}
		return make([]byte, n.Size)
	}
	return 0
}
