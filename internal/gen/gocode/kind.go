package gocode

import "github.com/idemgen/idemgen/internal/gen/model"

// kind says how values of a field kind are handled by package wire: the names of the
// methods that read, write, identify and compare them.
type kind struct {
	read   string // of Text and of a format's reader, in the usual notation
	row    string // of Rows
	part   string // of KeyBuilder and Fingerprint; "" for what is compared as JSON
	append string // function that appends JSON
}

var kinds = map[model.Kind]kind{
	model.String:         {"String", "Text", "Text", "AppendString"},
	model.Enum:           {"", "Text", "Text", "AppendString"},
	model.UUID:           {"UUID", "UUID", "UUID", "AppendUUID"},
	model.Bool:           {"Bool", "Bool", "Bool", "AppendBool"},
	model.Int32:          {"Int32", "Int4", "Int32", "AppendInt"},
	model.Int64:          {"Int64", "Int8", "Int64", "AppendInt"},
	model.Float64:        {"Float64", "Float8", "Float64", "AppendFloat"},
	model.Decimal:        {"Decimal", "Numeric", "Decimal", "AppendDecimal"},
	model.Timestamp:      {"Time", "Time", "Time", "AppendTime"},
	model.LocalTimestamp: {"LocalTime", "Timestamp", "LocalTime", "AppendLocalTime"},
	model.Date:           {"Date", "Date", "Date", "AppendDate"},
	model.Bytes:          {"Bytes", "Bytea", "Bytes", "AppendBytes"},
	model.JSON:           {"JSON", "JSONB", "JSONValue", "AppendRaw"},
	model.Object:         {row: "JSONB"},
	model.List:           {row: "JSONB"},
	model.Map:            {row: "JSONB"},
}

// goType is the type of a value: T, or for an optional one *T, or nil-able T.
func goType(t model.FieldType) code {
	if t.Optional && !nilable(t) {
		return pointer(bareType(t))
	}
	return bareType(t)
}

// fieldType is the type of an event's field.
func fieldType(f *model.Field) code {
	if !f.Patch {
		return goType(f.Type)
	}
	return idem("Patch").Add(text("[").Add(bareType(f.Type)).Add(text("]")))
}

// valueOf is a field of the event e: of a patch its value, or nil.
func valueOf(f *model.Field) string {
	switch {
	case f.Patch && nilable(f.Type):
		return "e." + f.GoName + ".Value"
	case f.Patch:
		return "e." + f.GoName + ".Pointer()"
	}
	return "e." + f.GoName
}

// nilable reports whether nil of the type itself stands for NULL.
func nilable(t model.FieldType) bool {
	return t.Kind == model.Bytes || t.Kind == model.JSON || t.Elem != nil
}

func bareType(t model.FieldType) code {
	switch t.Kind {
	case model.String:
		return text("string")
	case model.Bool:
		return text("bool")
	case model.Int32:
		return text("int32")
	case model.Int64:
		return text("int64")
	case model.Float64:
		return text("float64")
	case model.UUID:
		return idem("UUID")
	case model.Decimal:
		return idem("Decimal")
	case model.LocalTimestamp:
		return idem("LocalTime")
	case model.Date:
		return idem("Date")
	case model.Bytes:
		return text("[]byte")
	case model.JSON:
		return qual("encoding/json", "RawMessage")
	case model.List:
		return slice(goType(*t.Elem))
	case model.Map:
		return text("map[string]").Add(goType(*t.Elem))
	case model.Enum:
		return text(t.Named.GoName)
	case model.Object:
		return text(t.Named.GoName)
	}
	return qual("time", "Time")
}

// composed reports whether values are objects, lists or maps, which are written as JSON.
func composed(t model.FieldType) bool { return t.Kind == model.Object || t.Elem != nil }

// plainText is src, a value of the type that is not optional, as a value of the type that
// stands in rows.
func plainText(t model.FieldType, src string) code {
	if t.Kind == model.Enum {
		return text("string(%s)", src)
	}
	return text(src)
}

// optText is plainText for an optional value.
func optText(t model.FieldType, src string) code {
	if t.Kind == model.Enum {
		return text("(*string)(%s)", src)
	}
	return text(src)
}
