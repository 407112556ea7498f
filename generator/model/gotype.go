package model

// GoType is a Go type of the service's own, which its Go code sees in place of the built-in one.
// What is identified, compared and stored never passes through it.
type GoType struct {
	Entry string // of types: its name in the spec
	Kind  Kind   // of its values
	Path  string // import path of its package
	Name  string
	// What the package says. The generator finds it out once all specs of a run are read.
	Package string // name in the package clause; "" for the service's own package
	Parses  bool   // it reads texts by UnmarshalText; else values convert
}

// HoldsGo reports whether values of the type have a Go type of the service's own in them.
func (t FieldType) HoldsGo() bool {
	switch {
	case t.Go != nil:
		return true
	case t.Elem != nil:
		return t.Elem.HoldsGo()
	}
	return t.Named != nil && t.Named.HoldsGo()
}

// HoldsGo is FieldType.HoldsGo for values of an object type.
func (t *Type) HoldsGo() bool { return holdGo(t.Fields) }

// HoldsGo is FieldType.HoldsGo for the fields of an event.
func (e *Event) HoldsGo() bool { return holdGo(e.Fields) }

func holdGo(fields []*Field) bool {
	for _, f := range fields {
		if f.Type.HoldsGo() {
			return true
		}
	}
	return false
}
