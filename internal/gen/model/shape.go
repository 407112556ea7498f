package model

// Shape is what the schema of a topic's messages says of a value, whether a field reads it or not.
// A nil Shape says nothing.
type Shape struct {
	Says    string            // its type, as the schema has it: "message shop.v1.Order"
	Kind    Kind              // of the type that usually reads it
	Members map[string]*Shape // of an Object, by their names in JSON
	Elem    *Shape            // of a List or a Map
}

// Member returns the member of this name in the schema, or nil.
func (s *Shape) Member(name string) *Shape {
	switch {
	case s == nil:
		return nil
	case s.Kind == Map:
		return s.Elem
	}
	return s.Members[name]
}

// Element is what the schema says of the elements of a list.
func (s *Shape) Element() *Shape {
	if s == nil || s.Kind != List {
		return nil
	}
	return s.Elem
}
