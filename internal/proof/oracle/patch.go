package oracle

// unsent is the value of a patch that the record does not hold. It leaves columns as they are,
// is no content, and fills no new row.
type unsent struct{}

const whyMarked = "a value, not the marker of absent ones"

// isMarker reports whether a value is the text that stands for absent ones.
func (d *decoder) isMarker(n *node) bool {
	return d.marker != "" && n.kind == stringNode && !n.truncated && n.text == d.marker
}
