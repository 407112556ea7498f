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

// columnWords are the column types without a length.
var columnWords = map[string]model.ColKind{
	"text": model.ColText, "boolean": model.ColBoolean,
	"integer": model.ColInteger, "bigint": model.ColBigint,
	"numeric": model.ColNumeric, "double precision": model.ColDouble, "uuid": model.ColUUID,
	"timestamptz": model.ColTimestamptz, "timestamp": model.ColTimestamp, "date": model.ColDate,
	"bytea": model.ColBytea, "jsonb": model.ColJSONB, "json": model.ColJSON,
	"text array": model.ColTextArray, "integer array": model.ColIntegerArray,
	"bigint array": model.ColBigintArray, "uuid array": model.ColUUIDArray,
}

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
	if kind, ok := columnWords[word]; ok {
		return model.ColType{Kind: kind}, true
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

// ColumnText is a column type as the spec has it.
func ColumnText(t model.ColType) string {
	switch t.Kind {
	case model.ColVarchar:
		return fmt.Sprintf("varchar(%d)", t.Len)
	case model.ColChar:
		return fmt.Sprintf("char(%d)", t.Len)
	case model.ColNamed:
		return "named(" + t.Name + ")"
	case model.ColNumeric:
		if t.Precision > 0 {
			return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale)
		}
	}
	for word, kind := range columnWords {
		if kind == t.Kind {
			return word
		}
	}
	return ""
}

// otherColumnWords are type words of other databases, of Postgres' internals and of fields.
var otherColumnWords = map[string]string{
	"serial": "use integer with identity: true", "bigserial": "use bigint with identity: true", "smallserial": "use integer with identity: true",
	"int": "integer", "int2": "integer", "smallint": "integer", "int4": "integer", "int8": "bigint", "int32": "integer", "int64": "bigint", "tinyint": "integer", "long": "bigint",
	"bool": "boolean", "string": "text", "clob": "text", "citext": "use text, and write it in one case; a unique index of lower(email) is a migration of yours", "decimal": "numeric", "money": "numeric(p,s), and a column for the currency",
	"float": "double precision", "float4": "double precision", "float8": "double precision", "float64": "double precision", "real": "double precision", "double": "double precision",
	"datetime": "timestamptz", "timestamp with time zone": "timestamptz", "timestamp without time zone": "timestamp", "time": "timestamptz",
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
		if known := columnWord(base) + " array"; columnWords[known] != 0 {
			return `write "` + nullable + known + `"`
		}
		return `write "` + nullable + `jsonb": arrays are of text, integer, bigint and uuid`
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
