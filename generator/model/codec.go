package model

// Codec is Go code of the service that turns what records hold into values of a type. Two are the
// same if they are equal.
type Codec struct {
	Type     string // its name in the spec
	Doc      Doc
	Method   string // of the generated interface
	Kind     Kind   // of the values
	Notation Notation
}

// HoldsCodec reports whether values of the type are read by a codec, or hold some that are.
func (t FieldType) HoldsCodec() bool {
	found := false
	t.eachCodec(func(Codec) { found = true })
	return found
}

// HoldsCodec is FieldType.HoldsCodec for the fields of an event.
func (e *Event) HoldsCodec() bool {
	for _, f := range e.Fields {
		if f.Type.HoldsCodec() {
			return true
		}
	}
	return false
}

// Coded reports whether an event of the service reads values by the codec.
func (s *Service) Coded(by Codec) bool {
	found := false
	for _, t := range s.Topics {
		for _, e := range t.Events {
			for _, f := range e.Fields {
				f.Type.eachCodec(func(c Codec) { found = found || c == by })
			}
		}
	}
	return found
}

func (t FieldType) eachCodec(do func(Codec)) {
	switch {
	case t.Codec != nil:
		do(*t.Codec)
	case t.Elem != nil:
		t.Elem.eachCodec(do)
	case t.Named != nil:
		for _, f := range t.Named.Fields {
			f.Type.eachCodec(do)
		}
	}
}
