package idem

import "github.com/idemgen/idemgen/runtime/internal/protocol"

// State is where the writer's worker stands in the protocol's table.
func (w *Writer) State() protocol.State {
	s, _ := w.owner.w.at()
	return s
}
