package wire

import "slices"

// Content is the definition of an event's content: what its fingerprints cover. It is read
// only. Fingerprints of a definition that is not named here, as another version of the service
// made them, cannot be compared: a copy that is known by such a key is a duplicate, whatever
// it holds.
type Content struct {
	Def  uint32   // hash of what the definition says
	Same []uint32 // of other events that may have the same keys, in this version
}

// conflicts reports whether a known key stands for other content than print does.
func (c *Content) conflicts(known Prior, print uint32) bool {
	return known.Print != print && (known.Def == c.Def || slices.Contains(c.Same, known.Def))
}
