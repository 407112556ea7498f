package schema

// Type is an entry of types: it has Fields or Enum.
type Type struct {
	Name   Text // Pos is the key
	Doc    Doc
	Kind   TypeKind
	Fields []*Field
	Enum   []EnumValue
	Pos    Pos // the value: the map after the name
	Body   Pos // the value of fields or enum
	Broken bool
}

// TypeKind says what a types entry is.
type TypeKind int

// The kinds of a types entry. A broken entry may have no kind (0).
const (
	ObjectType TypeKind = iota + 1
	EnumType
)

// EnumValue is one value of an enum. In the list form Name and Wire are the same.
type EnumValue struct {
	Name Text // the constant's name
	Wire Text // the text on the wire
}

// Field is a field of an event, a topic or an object type. At most one of Path,
// Header and Record is set.
type Field struct {
	Name    Text       // Pos is the key
	Doc     Doc        //
	Type    *FieldType // nil only if Broken
	Path    *Path
	Header  *Text
	Record  *Text // key, value, timestamp, offset, partition or topic
	Default *Text // constant, not checked against the type
	Pos     Pos   // the value: the type text, or the map
	Broken  bool
}

// FieldType is the type of a field as written, without any look-up: Name may be a
// scalar of docs/spec.md, an entry of types, or neither (E208, by resolve).
// Only list(T) has an Elem; its Name is "list".
type FieldType struct {
	Text     string // as written, with "optional"
	Optional bool
	Name     string // "uuid", "list", "Line"; a text that is no type ("string?") stands here whole
	NamePos  Pos
	Elem     *FieldType
	Pos      Pos // the whole text
}

// Path is where a value is found: members from the root of the payload (or of the
// record key). No members means the whole value ("$").
type Path struct {
	Text    string // as written; the list form in YAML's flow style
	Members []string
	Whole   bool // written with "$": starts at the whole value
	Key     Pos
	Pos     Pos
}
