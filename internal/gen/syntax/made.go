package syntax

// NewField is a field that no line of the spec declares: of a message in another file. What is
// wrong with it is told at a place of the spec.
func NewField(name, typ string, path []string, at Pos) *Field {
	f := &Field{Name: Text{Value: name, Key: at, Pos: at}, Type: parseFieldType(typ, at, false), Pos: at}
	if path != nil {
		f.Path = &Path{Text: name, Members: path, Key: at, Pos: at}
	}
	return f
}

// NewObject is a type with these fields, and NewEnum one with these texts, that no line of the
// spec declares.
func NewObject(name string, fields []*Field, at Pos) *Type {
	return &Type{Name: Text{Value: name, Key: at, Pos: at}, Kind: ObjectType, Fields: fields, Pos: at, Body: at}
}

// NewEnum is as [NewObject].
func NewEnum(name string, texts []string, at Pos) *Type {
	t := &Type{Name: Text{Value: name, Key: at, Pos: at}, Kind: EnumType, Pos: at, Body: at}
	for _, text := range texts {
		t.Enum = append(t.Enum, Text{Value: text, Key: at, Pos: at})
	}
	return t
}
