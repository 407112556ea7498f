package model

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// Kind is the kind of a field's type.
type Kind int

// The kinds of values.
const (
	String Kind = iota + 1
	UUID
	Bool
	Int32
	Int64
	Float64
	Decimal
	Timestamp      // a moment; Notation
	LocalTimestamp // a day and a time of day without a zone
	Date           // Notation
	Bytes
	JSON   // any value, kept as sent
	Enum   // Named.Enum
	Object // Named.Fields
	List   // of Elem
	Map    // from texts to Elem
)

// FieldType is the type of a field, an object member or a list element.
type FieldType struct {
	Kind     Kind
	Notation Notation
	AnyTime  bool       // a number of units may be any time, not only one since 1973
	Scale    int        // of Unscaled
	Optional bool       // absent and null are both NULL
	Named    *Type      // Enum and Object
	Elem     *FieldType // List and Map
}

// ManyTexts reports whether equal values may have different texts in JSON: they are json, or
// objects, lists or maps with json or decimals in them.
func (t FieldType) ManyTexts() bool { return t.Kind == JSON || t.holds(JSON, Decimal) }

// holds reports whether an object, a list or a map has values of one of the kinds in it.
func (t FieldType) holds(kinds ...Kind) bool {
	if t.Elem != nil {
		return slices.Contains(kinds, t.Elem.Kind) || t.Elem.holds(kinds...)
	}
	return t.Kind == Object && slices.ContainsFunc(t.Named.Fields, func(f *Field) bool {
		return slices.Contains(kinds, f.Type.Kind) || f.Type.holds(kinds...)
	})
}

// Type is an entry of types: an object or an enum.
type Type struct {
	Name   string
	GoName string
	Doc    Doc
	Fields []*Field // object: members, in spec order; Source.Path is relative to the object
	Enum   []EnumValue
	// First is the type as the first topic reads it, if payloads of another naming spell its
	// members otherwise. Both have one Go type.
	First  *Type
	Naming string // by which members without a path are spelled; "" if that is no matter
}

// EnumValue is one constant of an enum.
type EnumValue struct {
	GoName string // "StatusOpen"
	Text   string // in records
}

// Field is a field of an event or a member of an object type.
type Field struct {
	Name    string
	GoName  string
	Doc     Doc
	Type    FieldType
	Source  Source
	Default *Constant // value when absent; nil = none
	// Sensitive says that the value is in no text.
	Sensitive bool
	Patch     bool // absent leaves what is stored as it is
	// SamePart is the record-key part of the same name, if the field is not read from
	// it: the runtime checks that both values agree.
	SamePart *KeyPart
}

// SourceKind tells where a field is read from.
type SourceKind int

// Where a field is read from.
const (
	FromPayload   SourceKind = iota + 1 // Path
	FromHeader                          // Header
	FromRecord                          // Record
	FromRecordKey                       // Part
)

// Source is where a field is read from.
type Source struct {
	Kind   SourceKind
	Path   []string // member names from the root of the payload; empty = the whole value
	Header string
	Binary bool   // the header is a big-endian number, the 16 bytes of a UUID, or bytes as they are
	Record string // key, value, timestamp, offset, partition or topic
	Part   *KeyPart
}

// IsRecordTime reports whether the field is the record's timestamp.
func (f *Field) IsRecordTime() bool {
	return f.Source.Kind == FromRecord && f.Source.Record == "timestamp"
}

// Constant is a checked constant of the spec: its text and, for fields, the kind it
// was read as. Text of a bool is true or false; of bytes the base64 text.
type Constant struct {
	Text string
}

// In returns the text that Postgres reads as the constant in a column of type t.
func (c *Constant) In(t ColType) (string, error) {
	switch t.Kind {
	case ColBytea:
		raw, err := base64.StdEncoding.DecodeString(c.Text)
		return `\x` + hex.EncodeToString(raw), err
	case ColDate, ColTimestamp, ColTimestamptz:
		if rest, ok := strings.CutPrefix(c.Text, "0000"); ok { // the year before the first one
			return "0001" + rest + " BC", nil
		}
	}
	return c.Text, nil
}
