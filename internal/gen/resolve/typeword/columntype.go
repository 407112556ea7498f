package typeword

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// columnWords are the column types without a length, but for arrays.
var columnWords = func() map[string]model.ColType {
	words := map[string]model.ColType{}
	for kind, word := range model.ColumnWords {
		words[word] = model.ColType{Kind: kind}
	}
	for _, word := range model.Parsed {
		words[word] = model.ColType{Kind: model.ColParsed, Name: word}
	}
	return words
}()

var (
	lengthType  = regexp.MustCompile(`^(varchar|char)\( *([1-9][0-9]{0,7}) *\)$`)
	numericType = regexp.MustCompile(`^numeric\( *([1-9][0-9]{0,3}) *, *(0|[1-9][0-9]{0,3}) *\)$`)
	namedType   = regexp.MustCompile(`^named\( *([a-z_][a-z0-9_]{0,62}\.[a-z_][a-z0-9_]{0,62}) *\)$`)
	bareType    = regexp.MustCompile(`^named\( *([a-z_][a-z0-9_]{0,62}) *\)$`)
)

// maxLength is Postgres' longest varchar(n) and char(n); maxPrecision its largest numeric.
const (
	maxLength    = 10485760
	maxPrecision = 1000
)

// ColumnType reads a column type word.
func ColumnType(word string) (model.ColType, bool) {
	if ct, ok := columnWords[word]; ok {
		return ct, true
	}
	if elem, ok := strings.CutSuffix(word, " array"); ok {
		ct := columnWords[elem]
		return model.ColType{Kind: model.ColArray, Elem: ct.Kind, Name: ct.Name}, elements[ct.Kind]
	}
	if m := lengthType.FindStringSubmatch(word); m != nil {
		n, _ := strconv.Atoi(m[2])
		kind := model.ColVarchar
		if m[1] == "char" {
			kind = model.ColChar
		}
		return model.ColType{Kind: kind, Len: n}, n <= maxLength
	}
	if m := numericType.FindStringSubmatch(word); m != nil {
		p, _ := strconv.Atoi(m[1])
		s, _ := strconv.Atoi(m[2])
		return model.ColType{Kind: model.ColNumeric, Precision: p, Scale: s}, p <= maxPrecision && s <= p
	}
	if m := namedType.FindStringSubmatch(word); m != nil {
		return model.ColType{Kind: model.ColNamed, Name: m[1]}, true
	}
	return model.ColType{}, false
}

// otherColumnWords are type words of other databases, of Postgres' internals and of fields.
var otherColumnWords = map[string]string{
	"serial": "use integer with identity: true", "bigserial": "use bigint with identity: true", "smallserial": "use integer with identity: true",
	"int": "integer", "int2": "smallint", "int4": "integer", "int8": "bigint", "int32": "integer", "int64": "bigint", "tinyint": "smallint", "long": "bigint",
	"bool": "boolean", "string": "text", "clob": "text", "decimal": "numeric", "money": "numeric(p,s), and a column for the currency",
	"float": "double precision", "float4": "real", "float8": "double precision", "float64": "double precision", "double": "double precision",
	"datetime": "timestamptz", "timestamp with time zone": "timestamptz", "timestamp without time zone": "timestamp",
	"time without time zone": "time", "time with time zone": "timetz", "bit varying": "varbit", "bit": "varbit, which takes any length",
	"xml": "text", "tsvector": "text; a generated column of tsvector is a migration of yours",
	"bytes": "bytea", "blob": "bytea", "object": "jsonb", "guid": "uuid", "local_timestamp": "timestamp", "epoch_days": "date",
	"varchar": "varchar(n) with a length, or text", "char": "char(n) with a length", "character varying": "varchar(n) with a length, or text",
}

// lengthWord is a type with a length or precision, perhaps within its name.
var lengthWord = regexp.MustCompile(`^([a-z0-9_ ]*[a-z0-9_]) *(\([0-9 ,]*\))( [a-z ]+)?$`)

// wordsWithLength are other words of the types that have a length.
var wordsWithLength = map[string]string{
	"decimal": "numeric", "dec": "numeric", "number": "numeric",
	"character varying": "varchar", "nvarchar": "varchar", "varchar2": "varchar", "character": "char", "bpchar": "char", "nchar": "char",
}

// columnWord returns the type that a word stands for, in this language or another one; "" if
// there is none of one word.
func columnWord(word string) string {
	word = strings.ToLower(word)
	if _, ok := ColumnType(word); ok {
		return word
	}
	if m := lengthWord.FindStringSubmatch(word); m != nil {
		if known := wordsWithLength[m[1]] + m[2]; m[3] == "" {
			if _, ok := ColumnType(known); ok {
				return known
			}
		}
		return columnWord(m[1] + m[3]) // a type that takes no length
	}
	if _, ok := ColumnType(otherColumnWords[word]); ok {
		return otherColumnWords[word]
	}
	return ""
}

// ElementOf takes apart what other languages write for a list of something.
func ElementOf(word string) (string, bool) {
	if base, ok := strings.CutPrefix(word, "[]"); ok {
		return base, true
	}
	for _, end := range []string{"[]", " array"} {
		if base, ok := strings.CutSuffix(word, end); ok {
			return base, true
		}
	}
	if m := otherList.FindStringSubmatch(word); m != nil {
		return m[1], true
	}
	return "", false
}

// UnknownColumnHint says what was probably meant by a word that is no column type.
func UnknownColumnHint(t syntax.ColumnType) string {
	word, nullable := t.Word, ""
	if t.Nullable {
		nullable = "nullable "
	}
	for _, form := range []struct{ before, after, why string }{
		{"", "?", ""}, {"optional ", "", " (a column is nullable, a field is optional)"}, {"", " nullable", ""}, {"", " null", ""},
	} {
		base, before := strings.CutPrefix(strings.ToLower(word), form.before)
		base, after := strings.CutSuffix(base, form.after)
		if known := columnWord(base); before && after && known != "" {
			return `write "nullable ` + known + `"` + form.why
		}
	}
	if base, ok := strings.CutSuffix(strings.ToLower(word), " not null"); ok && columnWord(base) != "" {
		return `write "` + columnWord(base) + `": columns are NOT NULL unless their type is "nullable ..."`
	}
	if base, ok := ElementOf(word); ok {
		known := columnWord(base) + " array"
		if _, ok := ColumnType(known); ok {
			return `write "` + nullable + known + `"`
		}
		return `write "` + nullable + `jsonb": there are no arrays of ` + base
	}
	form, _, _ := strings.Cut(word, "(")
	known := columnWord(word)
	switch {
	case form == word: // no parentheses
	case form == "numeric":
		return "write numeric, or numeric(p,s) with at most 1000 digits, s of them after the point"
	case form == "varchar" || form == "char":
		return fmt.Sprintf("write %s(n) with n from 1 to %d", form, maxLength)
	case form == "named":
		if m := bareType.FindStringSubmatch(word); m != nil {
			return fmt.Sprintf("write the schema, too: named(public.%s)", m[1])
		}
		return "write named(schema.type) with names of lower-case letters, digits and _"
	}
	if known != "" {
		return `did you mean "` + nullable + known + `"?`
	}
	if h, ok := otherColumnWords[strings.ToLower(word)]; ok {
		return "use " + strings.TrimPrefix(h, "use ")
	}
	if w := syntax.Closest(word, slices.Collect(maps.Keys(columnWords))); w != "" {
		return `did you mean "` + nullable + w + `"?`
	}
	return "for a type of your own write named(schema.type)"
}
