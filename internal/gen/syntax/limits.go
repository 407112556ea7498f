package syntax

// Limits is the limits map; nil means the default of the key.
type Limits struct {
	Key          Pos
	Pos          Pos
	BatchEvents  *Int
	BatchWait    *Duration
	BatchTimeout *Duration
	MaxPayload   *Size
	Effects      *Int
	Broken       bool
}

func readLimits(w *walker, e entry) (*Limits, bool) {
	l := &Limits{Key: e.key, Pos: e.node.Pos}
	l.Broken = !walkMap(w, e, limitKeys, l)
	return l, true
}
