package schema

// Doc is what a named thing says about itself. GoName is nil where none is given, and so is
// RenamedFrom, which a topic and an event may have.
type Doc struct {
	RenamedFrom *Text
	Description *Text
	Deprecated  *Text
	GoName      *Text
}

// docKeys are allowed on every named thing.
func docKeys[T any](doc func(*T) *Doc, more ...key[T]) keys[T] {
	return append(keys[T]{
		{name: "description", value: textValue(func(t *T) **Text { return &doc(t).Description })},
		{name: "deprecated", value: sentenceValue(func(t *T) **Text { return &doc(t).Deprecated })},
		{name: "go_name", value: goNameValue(func(t *T) **Text { return &doc(t).GoName })},
	}, more...)
}

// renamedFrom is the first name of a thing whose keys and ledger go on under it.
func renamedFrom[T any](kind nameKind, doc func(*T) *Doc) key[T] {
	return key[T]{name: "renamed_from", value: nameValue(kind, func(t *T) **Text { return &doc(t).RenamedFrom })}
}

// named goes over a map with names of the user's choice. Read gets the name, whether
// it is valid, and the value.
func (w *walker) named(e entry, kind nameKind, read func(name Text, valid bool, n *Node)) bool {
	if !w.isMap(e) {
		return false
	}
	for p := range w.pairs(e) {
		name := Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}
		read(name, w.name(kind, p.KeyPos, p.Key), p.Value)
	}
	return true
}
