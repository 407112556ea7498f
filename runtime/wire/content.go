package wire

import "slices"

// Content is the definition of an event's content: what its fingerprints cover. It is read only.
// Another version of the service may have made fingerprints of a definition that is not named
// here. They cannot be compared: then a copy is a duplicate, whatever it holds.
type Content struct {
	Def  uint32   // hash of what the definition says
	Same []uint32 // of other events that may have the same keys, in this version
}

// conflicts reports whether a known key has other content than print.
func (c *Content) conflicts(known Prior, print uint32) bool {
	return known.Print != print && (known.Def == c.Def || slices.Contains(c.Same, known.Def))
}
