package typeword

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// accepted are the columns that fields of each type fill.
var accepted = map[string]string{
	"string": "text|varchar(9)|char(9)|" + strings.Join(model.Parsed, "|"), "uuid": "uuid|text", "bool": "boolean",
	"int32": "smallint|integer|bigint|numeric", "int64": "bigint|numeric", "float64": "real|double precision",
	"decimal": "numeric|numeric(9,2)", "timestamp": "timestamptz", "local_timestamp": "timestamp", "date": "date", "bytes": "bytea", "json": "jsonb|json",
	"list(string)": "jsonb|text array|" + strings.Join(model.Parsed, " array|") + " array", "list(uuid)": "jsonb|uuid array", "list(bool)": "jsonb|boolean array",
	"list(int32)": "jsonb|smallint array|integer array", "list(int64)": "jsonb|bigint array", "list(float64)": "jsonb|real array|double precision array",
	"list(decimal)": "jsonb|numeric array", "list(timestamp)": "jsonb|timestamptz array", "list(local_timestamp)": "jsonb|timestamp array",
	"list(date)": "jsonb|date array", "list(bytes)": "jsonb", "list(json)": "jsonb", "list(list(int32))": "jsonb",
}

// A field fills exactly the columns that hold each of its values, and the error for any other one
// says what to do.
func TestEveryFieldTypeInEveryColumnType(t *testing.T) {
	words := []string{"varchar(9)", "char(9)", "numeric(9,2)", "named(app.kind)"}
	for word := range columnWords {
		words = append(words, word)
		if _, ok := ColumnType(word + " array"); ok {
			words = append(words, word+" array")
		}
	}
	for field, columns := range accepted {
		for _, word := range words {
			ct, ok := ColumnType(word)
			if !ok || ct.String() != word {
				t.Fatalf("column type %s is %q", word, ct)
			}
			fills, hint := Converts(fieldType(t, field), ct)
			if want := slices.Contains(strings.Split(columns, "|"), word); fills != want || fills != (hint == "") {
				t.Errorf("%s in %s: %v, %q; want %v", field, word, fills, hint, want)
			}
		}
	}
	for _, word := range []string{"bytea array", "json array", "text array array", "named(app.kind) array", "xml", "bit", "money", "tsvector", "time(3)"} {
		if ct, ok := ColumnType(word); ok {
			t.Errorf("%s is %v", word, ct)
		}
	}
}

func fieldType(t *testing.T, word string) model.FieldType {
	if elem, ok := strings.CutPrefix(word, "list("); ok {
		of := fieldType(t, strings.TrimSuffix(elem, ")"))
		return model.FieldType{Kind: model.List, Elem: &of}
	}
	s, ok := ScalarOf(word)
	if !ok {
		t.Fatalf("no field type %s", word)
	}
	return model.FieldType{Kind: s.Kind, Notation: s.Notation}
}
