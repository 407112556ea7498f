package oracle

import "github.com/idemgen/idemgen/generator/model"

// erases reports whether a record is of an event with erase_traces. Such a one waits for no dead
// letter of its record key.
func erases(in *Interpreter, t *model.Topic, r *Record) bool {
	if !t.Erases() || in.tooLarge(r) {
		return false
	}
	r, p, f := in.opened(t, r)
	if f != nil {
		return false
	}
	def, _, f := in.dispatch(t, r, p)
	return f == nil && def != nil && def.Erases
}
