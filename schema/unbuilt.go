package schema

import "fmt"

// inGo does the work of steps that are not built yet.
const inGo = "until then, handle: true, and write the rows in Go, in the same transaction"

// toOutbox sends events without an outbox of the language's own.
const toOutbox = "until then, insert into a table of yours, and send from there"

// notLogged is what holds without a key for it.
const notLogged = "leave it out: no value of a payload is in a log or an error, and dead letters hold whole records"

// unbuiltKey reports a key of the language that is not built yet. Meanwhile is what does
// its work with what is built.
func (w *walker) unbuiltKey(pos Pos, name, meanwhile string) {
	w.unbuilt(pos, fmt.Sprintf("key %q", name), meanwhile)
}

// unbuilt reports a value of the language that is not built yet.
func (w *walker) unbuilt(pos Pos, what, meanwhile string) {
	w.ds.Add(pos, "E115", what+" is not built yet", meanwhile)
}
