package schema

import "fmt"

// unbuiltKey reports a key of the language that is not built yet. Meanwhile is what does
// its work with what is built.
func (w *walker) unbuiltKey(pos Pos, name, meanwhile string) {
	w.unbuilt(pos, fmt.Sprintf("key %q", name), meanwhile)
}

// unbuilt reports a value of the language that is not built yet.
func (w *walker) unbuilt(pos Pos, what, meanwhile string) {
	w.ds.Add(pos, "E115", what+" is not built yet", meanwhile)
}
