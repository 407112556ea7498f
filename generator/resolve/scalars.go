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
	word     string
	kind     model.Kind
	key      bool // may be part of a key
	notation model.Notation
}

var scalars = []scalar{
	{"string", model.String, true, model.Usual},
	{"uuid", model.UUID, true, model.Usual},
	{"bool", model.Bool, false, model.Usual},
	{"int32", model.Int32, true, model.Usual},
	{"int64", model.Int64, true, model.Usual},
	{"float64", model.Float64, false, model.Usual},
	{"decimal", model.Decimal, true, model.Usual},
	{"timestamp", model.Timestamp, true, model.Usual},
	{"epoch_s", model.Timestamp, true, model.EpochSeconds},
	{"epoch_ms", model.Timestamp, true, model.EpochMillis},
	{"epoch_us", model.Timestamp, true, model.EpochMicros},
	{"epoch_ns", model.Timestamp, true, model.EpochNanos},
	{"local_timestamp", model.LocalTimestamp, false, model.Usual},
	{"date", model.Date, true, model.Usual},
	{"epoch_days", model.Date, true, model.EpochDays},
	{"bytes", model.Bytes, true, model.Usual},
	{"json", model.JSON, false, model.Usual},
}

func scalarOf(word string) (scalar, bool) {
	for _, s := range scalars {
		if s.word == word {
			return s, true
		}
	}
	return scalar{}, false
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
		if s.kind == t.Kind && s.notation == t.Notation {
			return s.word
		}
	}
	return ""
}

// fitForKey reports whether a value of the type may be part of a key.
func fitForKey(t model.FieldType) bool {
	return t.Kind == model.Enum || slices.ContainsFunc(scalars, func(s scalar) bool { return s.kind == t.Kind && s.key })
}

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

// typeWord returns the type that a word stands for, in this language or another one; "" if
// there is none.
func (ts *types) typeWord(word string) string {
	if _, ok := scalarOf(word); ok || ts.byName[word] != nil {
		return word
	}
	if inner, ok := strings.CutPrefix(word, "list("); ok && strings.HasSuffix(inner, ")") && ts.typeWord(strings.TrimSuffix(inner, ")")) != "" {
		return word
	}
	return otherWords[strings.ToLower(word)]
}

// unknownTypeHint says what was probably meant by a word that is no type.
func (ts *types) unknownTypeHint(word string) string {
	for _, form := range []struct{ before, after, why string }{
		{"", "?", ""}, {"", " optional", ""}, {"", " nullable", ""}, {"nullable ", "", " (a field is optional, a column is nullable)"},
	} {
		base, before := strings.CutPrefix(word, form.before)
		base, after := strings.CutSuffix(base, form.after)
		if known := ts.typeWord(base); before && after && known != "" {
			return `write "optional ` + known + `"` + form.why
		}
	}
	if strings.EqualFold(word, "list") || strings.EqualFold(word, "array") {
		return `write "list(string)", with the type of its elements`
	}
	if base, ok := strings.CutSuffix(word, " array"); ok && ts.typeWord(base) != "" {
		return `write "list(` + ts.typeWord(base) + `)" (array is a column type)`
	}
	if base, ok := elementOf(word); ok {
		if known := ts.typeWord(base); known != "" {
			return `write "list(` + known + `)"`
		}
	}
	if w, ok := otherWords[strings.ToLower(word)]; ok {
		return `did you mean "` + w + `"?`
	}
	var words []string
	for _, s := range scalars {
		words = append(words, s.word)
	}
	return schema.DidYouMean(word, append(words, ts.names()...))
}
