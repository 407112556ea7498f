package avromsg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/avro"

	"github.com/idemgen/idemgen/internal/asjson"
)

// opening opens a value of one schema with the names of another one.
type opening struct {
	*asjson.Writer
	wire
	reads *tree
	plans *plans
	open  int // objects and arrays of the JSON
}

const tooDeep = "is nested too deeply"

// append reads a value and writes it as JSON. reads is nil where nothing is known of who reads it.
func (o *opening) append(b []byte, wrote, reads *avro.SchemaNode) ([]byte, error) {
	wrote, err := o.branch(wrote)
	if err != nil {
		return nil, err
	}
	if wrote.Type == "null" {
		return append(b, "null"...), o.Check(b)
	}
	return o.appendValue(b, wrote, reads)
}

// appendValue is append for a value that is neither null nor of a union.
func (o *opening) appendValue(b []byte, wrote, reads *avro.SchemaNode) ([]byte, error) {
	if err := o.Check(b); err != nil {
		return nil, err
	}
	reads = o.reads.Of(reads)
	if reads == nil || reads.Type != "union" {
		return o.appendAs(b, wrote, reads)
	}
	branches := o.reads.Branches(reads)
	if len(branches) == 1 {
		return o.appendAs(b, wrote, branches[0].Is)
	}
	of, is := branchOf(wrote), (*avro.SchemaNode)(nil) // unless the union has it
	i := choose(branches, wrote)
	if i < 0 { // or has another type of this name, which cannot read it
		i = slices.IndexFunc(branches, func(b Branch) bool { return b.Name == of.Name })
	}
	if i >= 0 {
		of, is = branches[i], branches[i].Is
	}
	return o.within(b, wrote, func(b []byte) ([]byte, error) {
		b = append(append(append(b, `{"type":"`...), of.Name...), `","`...)
		b, err := o.appendAs(append(append(b, of.Name...), `":`...), wrote, is)
		return append(b, '}'), err
	})
}

// within writes an object or an array, unless it would be too deep.
func (o *opening) within(b []byte, wrote *avro.SchemaNode, write func(b []byte) ([]byte, error)) ([]byte, error) {
	if o.open == asjson.MostDepth {
		return o.Refuse(b, tooDeep), o.skip(wrote)
	}
	o.open++
	defer func() { o.open-- }()
	return write(b)
}

// appendAs writes a value for a type that is no union.
func (o *opening) appendAs(b []byte, wrote, reads *avro.SchemaNode) ([]byte, error) {
	if reads != nil && !matches(reads, wrote) {
		return o.Refuse(b, fmt.Sprintf("is of type %s, not %s", o.name(wrote), o.reads.name(reads))), o.skip(wrote)
	}
	var items, values *avro.SchemaNode
	if reads != nil {
		items, values = reads.Items, reads.Values
	}
	switch wrote.Type {
	case "record", "error":
		return o.within(b, wrote, func(b []byte) ([]byte, error) { return o.appendRecord(b, wrote, reads) })
	case "array":
		return o.within(b, wrote, func(b []byte) (_ []byte, err error) {
			b = append(b, '[')
			start := len(b)
			err = o.blocks(func() (err error) {
				b, err = o.append(comma(b, start), wrote.Items, items)
				return err
			})
			return append(b, ']'), err
		})
	case "map":
		return o.within(b, wrote, func(b []byte) ([]byte, error) { return o.appendMap(b, wrote, values) })
	case "enum":
		symbol, err := o.symbol(wrote)
		if reads != nil && reads.Type == "enum" && reads.HasEnumDefault && !slices.Contains(reads.Symbols, symbol) {
			symbol = reads.EnumDefault
		}
		return o.Text(b, symbol), err
	}
	if reads == nil {
		reads = &avro.SchemaNode{}
	}
	return o.appendSingle(b, wrote, reads)
}

// comma appends a comma if something is behind the start of an object or an array.
func comma(b []byte, start int) []byte {
	if len(b) > start {
		b = append(b, ',')
	}
	return b
}

// appendMap writes a map in the order of its names. One that holds a name twice is refused: Avro
// does not say which one counts.
func (o *opening) appendMap(b []byte, wrote, reads *avro.SchemaNode) ([]byte, error) {
	from, empty := o.rest, o.empty
	var all []int // where entries begin
	err := o.blocks(func() error {
		all = append(all, len(from)-len(o.rest))
		if _, err := o.bytes(mapName); err != nil {
			return err
		}
		return o.skip(wrote.Values)
	})
	if err != nil {
		return nil, err
	}
	behind := o.rest
	o.empty = empty // what was skipped is counted when it is written
	entry := func(at int) (name []byte) {
		o.rest = from[at:]
		name, _ = o.bytes(mapName) // which was read before
		return name
	}
	slices.SortFunc(all, func(a, b int) int { return bytes.Compare(entry(a), entry(b)) })
	for i := 1; i < len(all); i++ {
		if bytes.Equal(entry(all[i]), entry(all[i-1])) {
			o.rest = behind
			return o.Refuse(b, "is a map that has a name twice"), nil
		}
	}
	b = append(b, '{')
	start := len(b)
	for _, at := range all {
		b = append(o.Name(comma(b, start), string(entry(at))), ':')
		if b, err = o.append(b, wrote.Values, reads); err != nil {
			return nil, err
		}
	}
	o.rest = behind
	return append(b, '}'), nil
}

// appendRecord writes the fields that the reader has: those of the value, and the defaults of
// others. Where nobody reads the record, it writes all. Fields that are null are left out.
func (o *opening) appendRecord(b []byte, wrote, reads *avro.SchemaNode) ([]byte, error) {
	b = append(b, '{')
	start := len(b)
	member := func(name string) { b = append(append(append(comma(b, start), '"'), name...), `":`...) }
	p := o.plans.of(wrote, reads, o.reads.defaults)
	for i, step := range p.steps {
		f := &wrote.Fields[i]
		var err error
		switch {
		case step.clash:
			member(step.name)
			b = o.Refuse(b, "is written by several fields, because of its aliases")
			err = o.skip(&f.Type)
		case step.name == "":
			err = o.skip(&f.Type)
		default:
			var is *avro.SchemaNode
			if is, err = o.branch(&f.Type); err == nil && is.Type != "null" {
				member(step.name)
				b, err = o.appendValue(b, is, step.reads)
			}
		}
		if err != nil {
			return nil, in(f, err)
		}
	}
	for _, f := range p.lacking {
		own := opening{Writer: o.Writer, wire: wire{tree: o.reads, rest: o.reads.defaults[f]}, reads: o.reads, plans: o.plans, open: o.open}
		is, err := own.branch(&f.Type)
		if err == nil && is.Type != "null" {
			member(f.Name)
			b, err = own.appendValue(b, is, &f.Type)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// bases are what types are written as.
var bases = map[string]string{"int": "integer", "long": "integer", "float": "float", "double": "float", "bytes": "bytes", "fixed": "bytes", "string": "string"}

func sameBase(reads, wrote *avro.SchemaNode) bool {
	return bases[reads.Type] != "" && bases[reads.Type] == bases[wrote.Type]
}

// appendSingle writes a value that holds no others. What it means says the schema that it was
// written with, or else the one that reads it, where that one says it.
func (o *opening) appendSingle(b []byte, wrote, reads *avro.SchemaNode) ([]byte, error) {
	means := wrote
	if sameBase(reads, wrote) && (logicalOf(wrote) == "" || logicalOf(reads) == "") {
		means = reads
	}
	switch wrote.Type {
	case "boolean":
		v, err := o.boolean()
		return strconv.AppendBool(b, v), err
	case "int", "long":
		v, err := o.integer(wrote)
		return o.appendInteger(b, wrote, reads, means, v), err
	case "float":
		v, err := o.take(4)
		if err != nil {
			return nil, err
		}
		return o.Float(b, float64(math.Float32frombits(binary.LittleEndian.Uint32(v))), 32), nil
	case "double":
		v, err := o.take(8)
		if err != nil {
			return nil, err
		}
		return o.Float(b, math.Float64frombits(binary.LittleEndian.Uint64(v)), 64), nil
	}
	v, err := o.bytes(wrote)
	if err != nil {
		return nil, err
	}
	switch l := logicalOf(means); {
	case wrote.Type == "string" && (reads.Type != "bytes" || logicalOf(reads) != ""):
		return o.Text(b, string(v)), nil
	case wrote.Type == "string":
		return asjson.Bytes(b, v), nil
	case ignored(wrote, reads):
		return o.Refuse(b, mistaken), nil
	case l == "big-decimal":
		return o.Refuse(b, "is a big-decimal, which cannot be read"), nil
	case l == "decimal" && (len(v) > mostDecimal || means.Scale > mostScale):
		return o.Refuse(b, "is a decimal that is too large"), nil
	case l == "decimal" && len(v) == 0:
		return o.Refuse(b, "is a decimal without bytes"), nil
	case l == "decimal":
		return append(b, avro.RatFromBytes(v, means.Scale).FloatString(means.Scale)...), nil
	case l == "uuid" && len(v) == 16:
		return strconv.AppendQuote(b, fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])), nil
	case reads.Type == "string":
		return o.Text(b, string(v)), nil
	}
	return asjson.Bytes(b, v), nil
}

// The library takes a decimal beyond its own limits, which are larger, for zero.
const (
	mostDecimal = 16 << 10 // bytes: some 39,000 digits
	mostScale   = 1000     // digits after the point, or zeros before it
)

// units are how many of the unit of a time are in a second.
var units = map[string]int64{"millis": 1e3, "micros": 1e6, "nanos": 1e9}

// unitOf is the unit of a time of day or of a timestamp; 0 of other logical types.
func unitOf(logical string) int64 { return units[logical[strings.LastIndex(logical, "-")+1:]] }

func isTimeOfDay(logical string) bool { return strings.HasPrefix(logical, "time-") }

const (
	localTime  = "2006-01-02T15:04:05.999999999"
	dayInUnits = 86_400
	tooWide    = "has more than the 32 bits that the schema gives it"
)

// appendInteger writes a number, or the time that it means. A time of day is a number in the unit
// of its reader.
func (o *opening) appendInteger(b []byte, wrote, reads, means *avro.SchemaNode, v int64) []byte {
	if ignored(wrote, reads) {
		return o.Refuse(b, mistaken)
	}
	if was, is := logicalOf(wrote), logicalOf(reads); isTimeOfDay(was) && isTimeOfDay(is) {
		from, to := unitOf(was), unitOf(is)
		switch {
		case to < from && v%(from/to) != 0:
			return o.Refuse(b, "is a time of day that is not a whole number of the schema's unit")
		case to < from:
			v /= from / to
		default:
			v *= to / from // an int, which has less than 32 bits
		}
	}
	logical := logicalOf(means)
	if (reads.Type == "int" || logical == "date") && (v < math.MinInt32 || v > math.MaxInt32) {
		return o.Refuse(b, tooWide)
	}
	unit := unitOf(logical)
	switch {
	case logical == "date":
		return strconv.AppendQuote(b, time.Unix(v*dayInUnits, 0).UTC().Format(time.DateOnly))
	case unit == 0 || isTimeOfDay(logical):
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
