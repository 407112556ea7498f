// Package typeword knows the type words of fields and columns: what each means, which columns a
// field fills, and which constants they take.
//
// It looks up nothing in the spec and reports nothing. It must not import any package of this
// module but model, syntax and wording.
package typeword

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Scalar is a type word of fields.
type Scalar struct {
	Word     string
	Kind     model.Kind
	key      bool // may be part of a key
	Notation model.Notation
	AnyTime  bool
	Scale    int
}

// Scalars are the type words of fields.
var Scalars = []Scalar{
	{"string", model.String, true, model.Usual, false, 0},
	{"uuid", model.UUID, true, model.Usual, false, 0},
	{"bool", model.Bool, false, model.Usual, false, 0},
	{"int32", model.Int32, true, model.Usual, false, 0},
	{"int64", model.Int64, true, model.Usual, false, 0},
	{"float64", model.Float64, false, model.Usual, false, 0},
	{"decimal", model.Decimal, true, model.Usual, false, 0},
	{"decimal_struct", model.Decimal, true, model.WithScale, false, 0},
	{"timestamp", model.Timestamp, true, model.Usual, false, 0},
	{"epoch_s", model.Timestamp, true, model.EpochSeconds, false, 0},
	{"epoch_ms", model.Timestamp, true, model.EpochMillis, false, 0},
	{"epoch_us", model.Timestamp, true, model.EpochMicros, false, 0},
	{"epoch_ns", model.Timestamp, true, model.EpochNanos, false, 0},
	{"any_epoch_s", model.Timestamp, true, model.EpochSeconds, true, 0},
	{"any_epoch_ms", model.Timestamp, true, model.EpochMillis, true, 0},
	{"any_epoch_us", model.Timestamp, true, model.EpochMicros, true, 0},
	{"any_epoch_ns", model.Timestamp, true, model.EpochNanos, true, 0},
	{"local_timestamp", model.LocalTimestamp, false, model.Usual, false, 0},
	{"local_timestamp_array", model.LocalTimestamp, false, model.Array, false, 0},
	{"date", model.Date, true, model.Usual, false, 0},
	{"epoch_days", model.Date, true, model.EpochDays, false, 0},
	{"date_array", model.Date, true, model.Array, false, 0},
	{"bytes", model.Bytes, true, model.Usual, false, 0},
	{"json", model.JSON, false, model.Usual, false, 0},
}

// unscaled is the type word of decimals whose scale the spec says.
var unscaled = regexp.MustCompile(`^decimal_bytes\( *(0|[1-9][0-9]{0,2}) *\)$`)

// ScalarOf looks up a type word of fields.
func ScalarOf(word string) (Scalar, bool) {
	if m := unscaled.FindStringSubmatch(word); m != nil {
		scale, _ := strconv.Atoi(m[1])
		return Scalar{word, model.Decimal, true, model.Unscaled, false, scale}, true
	}
	for _, s := range Scalars {
		if s.Word == word {
			return s, true
		}
	}
	return Scalar{}, false
}

// Text is the type as a spec writes it, without optional.
func Text(t model.FieldType) string {
	switch t.Kind {
	case model.Enum, model.Object:
		return t.Named.Name
	case model.List:
		return "list(" + Text(*t.Elem) + ")"
	case model.Map:
		return "map(" + Text(*t.Elem) + ")"
	}
	if t.Notation == model.Unscaled {
		return fmt.Sprintf("decimal_bytes(%d)", t.Scale)
	}
	for _, s := range Scalars {
		if s.Kind == t.Kind && s.Notation == t.Notation && s.AnyTime == t.AnyTime {
			return s.Word
		}
	}
	return ""
}

// FitsKey reports whether a value of the type may be part of a key.
func FitsKey(t model.FieldType) bool {
	return t.Kind == model.Enum || slices.ContainsFunc(Scalars, func(s Scalar) bool { return s.Kind == t.Kind && s.key })
}

// OtherWords are type words of other languages and of columns.
var OtherWords = withParsed(map[string]string{
	"integer": "int64", "int": "int64", "bigint": "int64", "long": "int64", "uint64": "int64", "number": "decimal",
	"smallint": "int32", "short": "int32", "int16": "int32", "uint32": "int32",
	"text": "string", "varchar": "string", "char": "string", "citext": "string", "str": "string",
	"boolean": "bool", "float": "float64", "double": "float64", "float32": "float64", "real": "float64", "double precision": "float64",
	"numeric": "decimal", "money": "decimal", "datetime": "timestamp", "timestamptz": "timestamp", "time": "timestamp",
	"bytea": "bytes", "binary": "bytes", "jsonb": "json", "object": "json", "any": "json", "guid": "uuid",
	"unix": "epoch_s", "unix_seconds": "epoch_s", "unix_time": "epoch_s", "epoch": "epoch_s", "epoch_seconds": "epoch_s",
	"unix_millis": "epoch_ms", "unix_ms": "epoch_ms", "epoch_millis": "epoch_ms", "millis": "epoch_ms", "timestamp-millis": "epoch_ms",
	"unix_micros": "epoch_us", "unix_us": "epoch_us", "epoch_micros": "epoch_us", "micros": "epoch_us", "timestamp-micros": "epoch_us",
	"unix_nanos": "epoch_ns", "unix_ns": "epoch_ns", "epoch_nanos": "epoch_ns", "nanos": "epoch_ns",
})

// withParsed adds the columns that strings fill, unless a word has another meaning already.
func withParsed(words map[string]string) map[string]string {
	for _, word := range model.Parsed {
		if words[word] == "" {
			words[word] = "string"
		}
	}
	return words
}

// sized is a type with its length or its digits.
var sized = regexp.MustCompile(`^([A-Za-z]+) ?\([0-9]+(?:, ?[0-9]+)?\)$`)

// Unsized returns the type without its length or digits, if the word has some.
func Unsized(word string) (string, bool) {
	m := sized.FindStringSubmatch(word)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// otherMap is how other languages write a map.
var otherMap = regexp.MustCompile(`^(?i:map|dict|dictionary|record|object)(?: ?[<\[(] *(?:[A-Za-z]+ *[\],>] *)?([A-Za-z0-9_]*) *[>\])]?)?$`)

// MappedBy returns the type of a map's values, as the word writes it, if the word is how other
// languages write a map.
func MappedBy(word string) (string, bool) {
	m := otherMap.FindStringSubmatch(word)
	if m == nil || strings.EqualFold(word, "object") || strings.EqualFold(word, "record") {
		return "", false
	}
	return m[1], true
}

// otherList is how other languages write a list of something.
var otherList = regexp.MustCompile(`^(?i:list|array|repeated) ?[<\[(] *([A-Za-z0-9_]+) *[>\])]$`)
