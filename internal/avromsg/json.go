package avromsg

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/avro"

	"github.com/idemgen/idemgen/internal/asjson"
)

// opening writes values of one schema with the names of another one.
type opening struct {
	*asjson.Writer
	wrote, reads *tree
}

// unwrap is the type of a union's value, and the value; of no union both as they are.
func (o opening) unwrap(n *avro.SchemaNode, value any) (*avro.SchemaNode, any) {
	tagged, ok := value.(map[string]any)
	if n.Type != "union" || !ok {
		return n, value
	}
	for _, b := range o.wrote.Branches(n) {
		if is, ok := tagged[b.Full]; ok {
			return b.Is, is
		}
	}
	return n, nil
}

// answers reports whether a type that reads is meant for one that was written: of records and the
// like the name counts, without its namespace.
func answers(reads, wrote *avro.SchemaNode) bool {
	if reads.Type != wrote.Type {
		return false
	}
	switch reads.Type {
	case "record", "error", "enum", "fixed":
		name := short(wrote.Name)
		return short(reads.Name) == name || slices.ContainsFunc(reads.Aliases, func(a string) bool { return short(a) == name })
	}
	return true
}

// append writes a decoded value as JSON. reads is nil where nothing is known of who reads it.
func (o opening) append(b []byte, wrote, reads *avro.SchemaNode, value any) ([]byte, error) {
	if err := o.Check(b); err != nil {
		return nil, err
	}
	wrote, value = o.unwrap(o.wrote.Of(wrote), value)
	if value == nil {
		return append(b, "null"...), nil
	}
	reads = o.reads.Of(reads)
	if reads == nil || reads.Type != "union" {
		return o.appendAs(b, wrote, reads, value)
	}
	branches := o.reads.Branches(reads)
	of := branchOf(wrote) // unless the union has it
	is := (*avro.SchemaNode)(nil)
	for _, like := range []func(r, w *avro.SchemaNode) bool{answers, sameBase} {
		if i := slices.IndexFunc(branches, func(r Branch) bool { return like(r.Is, wrote) }); i >= 0 && is == nil {
			of, is = branches[i], branches[i].Is
		}
	}
	if len(branches) == 1 {
		return o.appendAs(b, wrote, branches[0].Is, value)
	}
	b = append(append(append(b, `{"type":"`...), of.Name...), `","`...)
	b, err := o.appendAs(append(append(b, of.Name...), `":`...), wrote, is, value)
	return append(b, '}'), err
}

// appendAs writes a value that is of no union.
func (o opening) appendAs(b []byte, wrote, reads *avro.SchemaNode, value any) (_ []byte, err error) {
	if reads == nil {
		reads = &avro.SchemaNode{}
	}
	switch wrote.Type {
	case "record", "error":
		return o.appendRecord(b, wrote, reads, value.(map[string]any))
	case "array":
		b = append(b, '[')
		for i, v := range value.([]any) {
			if b, err = o.append(comma(b, i), wrote.Items, reads.Items, v); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case "map":
		members := value.(map[string]any)
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(members)) {
			b = append(o.Name(comma(b, i), name), ':')
			if b, err = o.append(b, wrote.Values, reads.Values, members[name]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case "enum":
		symbol := value.(string)
		if reads.Type == "enum" && reads.HasEnumDefault && !slices.Contains(reads.Symbols, symbol) {
			symbol = reads.EnumDefault
		}
		return o.Text(b, symbol), nil
	}
	return o.appendSingle(b, wrote, reads, value)
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// appendRecord writes the fields that the reader has: those of the value, and the defaults of
// others. Where nobody reads the record, it writes all.
func (o opening) appendRecord(b []byte, wrote, reads *avro.SchemaNode, members map[string]any) (_ []byte, err error) {
	b = append(b, '{')
	written := 0
	member := func(name string, wrote, reads *avro.SchemaNode, value any, from opening) error {
		b = append(append(append(comma(b, written), '"'), name...), `":`...)
		written++
		b, err = from.append(b, wrote, reads, value)
		return err
	}
	have := map[string]bool{}
	for i := range wrote.Fields {
		f := &wrote.Fields[i]
		name, is := f.Name, (*avro.SchemaNode)(nil)
		if IsRecord(reads) {
			r := fieldFor(reads, f.Name)
			if r == nil {
				continue
			}
			name, is = r.Name, &r.Type
		}
		have[name] = true
		if members[f.Name] == nil {
			continue
		}
		if err := member(name, &f.Type, is, members[f.Name], o); err != nil {
			return nil, err
		}
	}
	for i := range reads.Fields {
		f := &reads.Fields[i]
		value, is := o.reads.defaults[f]
		if have[f.Name] || !is {
			continue
		}
		if err := member(f.Name, &f.Type, &f.Type, value, opening{o.Writer, o.reads, o.reads}); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// fieldFor is the field of a record that reads one of this name; nil if there is none.
func fieldFor(n *avro.SchemaNode, name string) *avro.SchemaField {
	for i := range n.Fields {
		if f := &n.Fields[i]; f.Name == name || slices.Contains(f.Aliases, name) {
			return f
		}
	}
	return nil
}

// bases are what types are written as.
var bases = map[string]string{"int": "integer", "long": "integer", "float": "float", "double": "float", "bytes": "bytes", "fixed": "bytes", "string": "string"}

func sameBase(reads, wrote *avro.SchemaNode) bool {
	return bases[reads.Type] != "" && bases[reads.Type] == bases[wrote.Type]
}

// appendSingle writes a value that holds no others. What it means says the schema that it was
// written with, or else the one that reads it, where that one says it.
func (o opening) appendSingle(b []byte, wrote, reads *avro.SchemaNode, value any) ([]byte, error) {
	means := wrote
	if sameBase(reads, wrote) && (wrote.LogicalType == "" || reads.LogicalType == "") {
		means = reads
	}
	switch v := value.(type) {
	case bool:
		return strconv.AppendBool(b, v), nil
	case int32:
		return appendInteger(b, means, int64(v)), nil
	case int64:
		return appendInteger(b, means, v), nil
	case float32:
		return o.Float(b, float64(v), 32), nil
	case float64:
		return o.Float(b, v, 64), nil
	case string:
		if reads.Type == "bytes" && reads.LogicalType == "" {
			return asjson.Bytes(b, []byte(v)), nil
		}
		return o.Text(b, v), nil
	case []byte:
		switch {
		case means.LogicalType == "decimal" && (len(v) > mostDecimal || max(means.Scale, -means.Scale) > mostScale):
			return o.Refuse(b, "is a decimal that is too large"), nil
		case means.LogicalType == "decimal" && len(v) == 0:
			return o.Refuse(b, "is a decimal of no bytes"), nil
		case means.LogicalType == "decimal":
			return append(b, avro.RatFromBytes(v, means.Scale).FloatString(max(0, means.Scale))...), nil
		case means.LogicalType == "uuid" && len(v) == 16:
			return strconv.AppendQuote(b, fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])), nil
		case reads.Type == "string":
			return o.Text(b, string(v)), nil
		}
		return asjson.Bytes(b, v), nil
	}
	return o.Refuse(b, fmt.Sprintf("is a %s, which cannot be read", cmp.Or(wrote.LogicalType, wrote.Type))), nil
}

// The library takes a decimal beyond its own limits, which are larger, for zero.
const (
	mostDecimal = 16 << 10 // bytes: some 39,000 digits
	mostScale   = 1000     // digits after the point, or zeros before it
)

// units are how many of a timestamp's unit are in a second.
var units = map[string]int64{"millis": 1e3, "micros": 1e6, "nanos": 1e9}

const (
	localTime  = "2006-01-02T15:04:05.999999999"
	dayInUnits = 86_400
)

// appendInteger writes a number, or the time that it means.
func appendInteger(b []byte, means *avro.SchemaNode, v int64) []byte {
	l := means.LogicalType
	unit := units[l[strings.LastIndex(l, "-")+1:]]
	switch {
	case l == "date":
		return strconv.AppendQuote(b, time.Unix(v*dayInUnits, 0).UTC().Format(time.DateOnly))
	case unit == 0 || !strings.Contains(l, "timestamp-"):
		return strconv.AppendInt(b, v, 10)
	}
	seconds, rest := v/unit, v%unit
	return strconv.AppendQuote(b, time.Unix(seconds, rest*(1e9/unit)).UTC().Format(layoutOf(means)))
}

// layoutOf is how a date or a timestamp is written.
func layoutOf(n *avro.SchemaNode) string {
	switch {
	case n.LogicalType == "date":
		return time.DateOnly
	case strings.HasPrefix(n.LogicalType, "local-"):
		return localTime
	}
	return time.RFC3339Nano
}
