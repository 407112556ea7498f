package syntax

// Doc is what a named thing says about itself; nil where it says nothing.
type Doc struct{ Description *Text }

// ofRenames is for tables and columns.
const ofRenames = "write its name in the database under name; or rename it in a migration of your own, with -- idemgen:by-hand and both names"

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
