package resolve

import (
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// scalar is a type word of fields.
type scalar struct {
	word string
	kind model.Kind
	key  bool // may be part of a key
}

var scalars = []scalar{
	{"string", model.String, true},
	{"uuid", model.UUID, true},
	{"bool", model.Bool, false},
	{"int32", model.Int32, true},
	{"int64", model.Int64, true},
	{"float64", model.Float64, false},
	{"decimal", model.Decimal, true},
	{"timestamp", model.Timestamp, true},
	{"epoch_s", model.EpochS, true},
	{"epoch_ms", model.EpochMS, true},
	{"epoch_us", model.EpochUS, true},
	{"epoch_ns", model.EpochNS, true},
	{"local_timestamp", model.LocalTimestamp, false},
	{"date", model.Date, true},
	{"epoch_days", model.EpochDays, true},
	{"bytes", model.Bytes, true},
	{"json", model.JSON, false},
}

func scalarKind(word string) (model.Kind, bool) {
	for _, s := range scalars {
		if s.word == word {
			return s.kind, true
		}
	}
	return 0, false
}

// typeText is the type as a spec writes it, without optional.
func typeText(t model.FieldType) string {
	switch t.Kind {
	case model.Enum, model.Object:
		return t.Named.Name
	case model.List:
		return "list(" + typeText(*t.Elem) + ")"
	}
	for _, s := range scalars {
		if s.kind == t.Kind {
			return s.word
		}
	}
	return ""
}

// fitForKey reports whether a value of the type may be part of a key.
func fitForKey(t model.FieldType) bool {
	return t.Kind == model.Enum || slices.ContainsFunc(scalars, func(s scalar) bool { return s.kind == t.Kind && s.key })
}

func isEpoch(k model.Kind) bool {
	return k == model.EpochS || k == model.EpochMS || k == model.EpochUS || k == model.EpochNS
}

func isInstant(k model.Kind) bool { return k == model.Timestamp || isEpoch(k) }

// otherWords are type words of other languages and of columns.
var otherWords = map[string]string{
	"integer": "int64", "int": "int64", "bigint": "int64", "long": "int64", "uint64": "int64", "number": "decimal",
	"smallint": "int32", "short": "int32", "int16": "int32", "uint32": "int32",
	"text": "string", "varchar": "string", "char": "string", "citext": "string", "str": "string",
	"boolean": "bool", "float": "float64", "double": "float64", "float32": "float64", "real": "float64", "double precision": "float64",
	"numeric": "decimal", "money": "decimal", "datetime": "timestamp", "timestamptz": "timestamp", "time": "timestamp",
	"bytea": "bytes", "binary": "bytes", "jsonb": "json", "object": "json", "any": "json", "guid": "uuid",
}

// otherList is how other languages write a list of something.
var otherList = regexp.MustCompile(`^(?i:list|array|repeated) ?[<\[(] *([A-Za-z0-9_]+) *[>\])]$`)

// unknownTypeHint says what was probably meant by a word that is no type.
func (r *resolver) unknownTypeHint(word string) string {
	if base, ok := strings.CutSuffix(word, "?"); ok {
		return `write "optional ` + base + `"`
	}
	if base, ok := strings.CutPrefix(word, "nullable "); ok {
		return `write "optional ` + base + `" (a field is optional, a column is nullable)`
	}
	for _, last := range []string{" optional", " nullable"} {
		if base, ok := strings.CutSuffix(word, last); ok {
			return `write "optional ` + base + `"`
		}
	}
	if m := otherList.FindStringSubmatch(word); m != nil {
		return `write "list(` + m[1] + `)"`
	}
	if base, ok := strings.CutSuffix(word, "[]"); ok {
		return `write "list(` + base + `)"`
	}
	if base, ok := strings.CutSuffix(word, " array"); ok {
		return `write "list(` + base + `)" (array is a column type)`
	}
	if w, ok := otherWords[strings.ToLower(word)]; ok {
		return `did you mean "` + w + `"?`
	}
	words := []string{"list"}
	for _, s := range scalars {
		words = append(words, s.word)
	}
	for _, t := range r.spec.Types {
		words = append(words, t.Name.Value)
	}
	return schema.DidYouMean(word, words)
}
