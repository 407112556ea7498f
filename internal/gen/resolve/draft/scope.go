package draft

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Origin says who declared a name of an event's scope.
type Origin int

// Who may declare a name.
const (
	OwnField      Origin = iota // the event
	SharedField                 // the type that the event names as its fields
	TopicField                  // the topic
	RecordKeyPart               // the record key
)

// Name is a name in the scope of an event. Field is nil if its declaration was
// refused: a use of it is then neither right nor wrong.
type Name struct {
	Text   string
	Origin Origin
	Pos    syntax.Pos
	Field  *model.Field
	Used   bool
	// NoPayload: a payload field of the topic, in a tombstone.
	NoPayload bool
}

// Scope holds the names of one event: its fields, the topic's fields, the parts of the
// record key that no field names.
type Scope struct {
	Names []*Name
	Open  bool // some names are unknown: a field that is missing proves nothing
}

// Find returns the declaration of a name, or nil.
func (s *Scope) Find(text string) *Name {
	i := slices.IndexFunc(s.Names, func(n *Name) bool { return n.Text == text })
	if i < 0 {
		return nil
	}
	return s.Names[i]
}

// Texts are the names that the event can read.
func (s *Scope) Texts() []string {
	var out []string
	for _, n := range s.Names {
		if !n.NoPayload {
			out = append(out, n.Text)
		}
	}
	return out
}
