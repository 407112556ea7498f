package avromsg

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/twmb/avro"
)

// Avro ignores a logical type that is not valid, that is not known, or that is beside the type of
// a field and not in it: values are what they are without it. The library rejects some of them. A
// value must not get another meaning from its reader either, so they become properties.

// mistaken is the reason for a value whose logical type was ignored, and is another one where it
// is read.
const mistaken = "has an invalid or unknown logical type in the writer's schema"

// property has what a value would mean by the logical type that was ignored.
const property = "idemgen.ignored"

// carriers are the types that logical types belong to.
var carriers = map[string][]string{
	"decimal": {"bytes", "fixed"}, "big-decimal": {"bytes"}, "uuid": {"string", "fixed"}, "duration": {"fixed"}, "date": {"int"}, "time-millis": {"int"}, "time-micros": {"long"},
	"timestamp-millis": {"long"}, "timestamp-micros": {"long"}, "timestamp-nanos": {"long"},
	"local-timestamp-millis": {"long"}, "local-timestamp-micros": {"long"}, "local-timestamp-nanos": {"long"},
}

// mostPrecision is the greatest precision that the library accepts.
const mostPrecision = 1 << 16

// isLogical reports whether a logical type means something for a type.
func isLogical(logical, typ string, size, precision, scale int) bool {
	switch {
	case !slices.Contains(carriers[logical], typ):
		return false
	case logical == "uuid" && typ == "fixed":
		return size == 16
	case logical == "duration":
		return size == 12
	case logical != "decimal":
		return true
	}
	most := mostPrecision
	if typ == "fixed" {
		most = min(most, int(float64(8*size-1)*math.Log10(2)))
	}
	return precision > 0 && precision <= most && scale >= 0 && scale <= precision
}

// logicalOf returns the logical type of a type, as Avro has it: "" if it means nothing.
func logicalOf(n *avro.SchemaNode) string {
	if n.LogicalType == "" || !isLogical(n.LogicalType, n.Type, n.Size, n.Precision, n.Scale) {
		return ""
	}
	return n.LogicalType
}

// meaning is what a value means by its logical type.
func meaning(logical string, scale int) string {
	if logical == "decimal" {
		return fmt.Sprintf("decimal of scale %d", scale)
	}
	return logical
}

// ignored reports whether a value would have meant something else than it does to its reader.
func ignored(wrote, reads *avro.SchemaNode) bool {
	was, _ := wrote.Props[property].(string)
	if was == "" {
		return false
	}
	is := logicalOf(reads)
	return is != "" && was != meaning(is, reads.Scale)
}

// withoutMistaken returns a schema in which logical types that Avro ignores are properties.
func withoutMistaken(schema string) string {
	in := json.NewDecoder(strings.NewReader(schema))
	in.UseNumber()
	var is any
	if in.Decode(&is) != nil || !cutMistaken(is) {
		return schema
	}
	out, err := json.Marshal(is)
	if err != nil {
		return schema
	}
	return string(out)
}

// cutMistaken changes a schema, and reports whether it did.
func cutMistaken(is any) (changed bool) {
	switch is := is.(type) {
	case []any:
		for _, of := range is {
			changed = cutMistaken(of) || changed
		}
	case map[string]any:
		for _, key := range []string{"type", "items", "values"} {
			changed = cutMistaken(is[key]) || changed
		}
		fields, _ := is["fields"].([]any)
		for _, of := range fields {
			f, ok := of.(map[string]any)
			changed = ok && cutMistaken(f["type"]) || changed
			changed = ok && cutOf(f, typeOf(f)) || changed
		}
		typ, _ := is["type"].(string)
		logical, _ := is["logicalType"].(string)
		if !isLogical(logical, typ, number(is["size"]), number(is["precision"]), number(is["scale"])) {
			changed = cutOf(is, is) || changed
		}
	}
	return changed
}

// typeOf returns the type that a logical type beside it may have been meant for: the first one
// that is not null. It is nil if it has a logical type of its own.
func typeOf(field map[string]any) map[string]any {
	is, set := field["type"], func(to any) { field["type"] = to }
	if union, ok := is.([]any); ok {
		i := slices.IndexFunc(union, func(of any) bool { return of != "null" })
		if i < 0 {
			return nil
		}
		is, set = union[i], func(to any) { union[i] = to }
	}
	switch is := is.(type) {
	case map[string]any:
		if is["logicalType"] == nil {
			return is
		}
	case string:
		if bases[is] != "" && is != "fixed" {
			alone := map[string]any{"type": is}
			set(alone)
			return alone
		}
	}
	return nil
}

// cutOf makes the logical type that a type has, or a field beside it, a property of the type.
func cutOf(has, typ map[string]any) bool {
	logical, is := has["logicalType"].(string)
	if !is {
		return false
	}
	delete(has, "logicalType")
	if typ != nil {
		scale := typ["scale"]
		if scale == nil {
			scale = has["scale"]
		}
		typ[property] = meaning(logical, number(scale))
	}
	return true
}

// number is a whole number of JSON, 0 if it is left out, and -1 if it is none.
func number(v any) int {
	if v == nil {
		return 0
	}
	n, _ := v.(json.Number)
	if i, err := n.Int64(); err == nil && i == int64(int32(i)) {
		return int(i)
	}
	return -1
}
