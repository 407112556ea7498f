package typeword

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
)

// columnsOf says which columns a kind fills.
var columnsOf = map[model.Kind][]model.ColKind{
	model.String:         {model.ColText, model.ColVarchar, model.ColChar, model.ColParsed},
	model.UUID:           {model.ColUUID, model.ColText},
	model.Bool:           {model.ColBoolean},
	model.Int32:          {model.ColInteger, model.ColBigint, model.ColSmallint, model.ColNumeric},
	model.Int64:          {model.ColBigint, model.ColNumeric},
	model.Float64:        {model.ColDouble, model.ColReal},
	model.Decimal:        {model.ColNumeric},
	model.Timestamp:      {model.ColTimestamptz},
	model.LocalTimestamp: {model.ColTimestamp},
	model.Date:           {model.ColDate},
	model.Bytes:          {model.ColBytea},
	model.JSON:           {model.ColJSONB, model.ColJSON},
	model.Enum:           {model.ColText, model.ColVarchar, model.ColNamed},
	model.Object:         {model.ColJSONB},
	model.List:           {model.ColJSONB},
	model.Map:            {model.ColJSONB},
}

// elementsOf has the elements of the arrays that a list of a kind fills.
var elementsOf = map[model.Kind][]model.ColKind{
	model.String: {model.ColText, model.ColParsed}, model.UUID: {model.ColUUID}, model.Bool: {model.ColBoolean},
	model.Int32: {model.ColInteger, model.ColSmallint}, model.Int64: {model.ColBigint},
	model.Float64: {model.ColDouble, model.ColReal}, model.Decimal: {model.ColNumeric},
	model.Timestamp: {model.ColTimestamptz}, model.LocalTimestamp: {model.ColTimestamp}, model.Date: {model.ColDate},
}

// elements are the kinds that arrays may have.
var elements = func() map[model.ColKind]bool {
	all := map[model.ColKind]bool{}
	for _, kinds := range elementsOf {
		for _, k := range kinds {
			all[k] = true
		}
	}
	return all
}()

// Converts reports whether a value of type ft may fill a column of type ct; if not,
// hint says what to declare instead.
func Converts(ft model.FieldType, ct model.ColType) (ok bool, hint string) {
	for _, k := range columnsOf[ft.Kind] {
		if k != ct.Kind {
			continue
		}
		if k == model.ColNumeric && ct.Precision > 0 && ft.Kind != model.Decimal {
			return false, "declare the field decimal: its digits are then checked against the column"
		}
		if ft.Kind == model.Enum && k == model.ColVarchar {
			for _, v := range ft.Named.Enum {
				if utf8.RuneCountInString(v.Text) > ct.Len {
					return false, fmt.Sprintf("its value %s is longer than the column", wording.Quote(v.Text))
				}
			}
		}
		return true, ""
	}
	if ft.Kind == model.List && ct.Kind == model.ColArray && slices.Contains(elementsOf[ft.Elem.Kind], ct.Elem) {
		return true, ""
	}
	return false, conversionHint(ft, ct)
}

// conversionHint says how a field and a column can be brought together.
func conversionHint(ft model.FieldType, ct model.ColType) string {
	switch k := ft.Kind; {
	case k == model.Timestamp && ct.Kind == model.ColTimestamp:
		return "use timestamptz; a column without time zone would drop the zone"
	case k == model.Timestamp && ct.Kind == model.ColDate:
		return "use timestamptz: which day it is depends on a zone"
	case k == model.LocalTimestamp && ct.Kind == model.ColTimestamptz:
		return "use a timestamp column, or declare the field timestamp if the zone is sent"
	case k == model.Float64 && ct.Kind == model.ColNumeric:
		return "declare the field decimal: a float64 has already lost digits"
	case k == model.Decimal && (ct.Kind == model.ColDouble || ct.Kind == model.ColReal):
		return "use numeric: " + ct.String() + " would lose digits"
	case k == model.Int64 && (ct.Kind == model.ColInteger || ct.Kind == model.ColSmallint):
		return "use bigint, or declare the field int32"
	case k == model.Decimal && (ct.Kind == model.ColSmallint || ct.Kind == model.ColInteger || ct.Kind == model.ColBigint):
		return "declare the field int64, or use numeric"
	case k == model.String:
		return stringHint(ct)
	case (k == model.Enum || k == model.UUID) && (ct.Kind == model.ColVarchar || ct.Kind == model.ColChar):
		return "use text"
	case k == model.JSON && (ct.Kind == model.ColText || ct.Kind == model.ColVarchar), (k == model.Object || ft.Elem != nil) && ct.Kind == model.ColJSON:
		return "use jsonb"
	case k == model.List:
		if kinds := elementsOf[ft.Elem.Kind]; len(kinds) > 0 {
			return "use jsonb, or " + model.ColumnWords[kinds[0]] + " array"
		}
		return "use jsonb"
	}
	return columnsHint(ft)
}

// stringHint names the type to declare in place of string.
func stringHint(ct model.ColType) string {
	for _, s := range Scalars {
		if columnsOf[s.Kind][0] == ct.Kind {
			return fmt.Sprintf("declare the field %s: text is never parsed on the way into a column", s.Word)
		}
	}
	switch ct.Kind {
	case model.ColNamed:
		return "declare the field as an enum"
	case model.ColSmallint:
		return "declare the field int32"
	case model.ColReal:
		return "declare the field float64"
	}
	return columnsHint(model.FieldType{Kind: model.String})
}

// ColumnWordOf is the name of a kind of column.
var ColumnWordOf = func() map[model.ColKind]string {
	m := maps.Clone(model.ColumnWords)
	m[model.ColVarchar], m[model.ColChar], m[model.ColNamed] = "varchar(n)", "char(n)", "named(schema.type)"
	m[model.ColParsed] = "a type that Postgres parses from a string, such as time, interval or inet"
	return m
}()

// columnsHint lists the columns that a type fills.
func columnsHint(ft model.FieldType) string {
	var words []string
	for _, k := range columnsOf[ft.Kind] {
		words = append(words, ColumnWordOf[k])
	}
	return Text(ft) + " fills " + strings.Join(words, " or ")
}
