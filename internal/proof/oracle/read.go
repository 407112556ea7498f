package oracle

import "github.com/idemgen/idemgen/internal/gen/model"

// Read says which event a record is, and whether it could take effect, without applying it: the
// Kind of the outcome is Applied, Ignored, DeadLetter or Stop. The event is nil if the record has
// none. Key is the printable identity, empty for offset keys.
func (in *Interpreter) Read(r Record) (*model.Event, Outcome) {
	e, out := in.Decode(r)
	return e.def, out
}

// Decode says the same as Read, and what the fields of the event hold.
func (in *Interpreter) Decode(r Record) (Values, Outcome) {
	t := in.topic(r.Topic)
	if t == nil {
		return Values{}, Outcome{Kind: Ignored}
	}
	e, key, out := in.take(t, &r)
	switch {
	case e == nil:
		return Values{}, out
	case out.Kind != 0:
		return Values{def: e.def}, out
	case !e.def.Returns() || e.result != nil: // else nobody says what the rows hold
		if _, f := e.rows(); f != nil {
			return Values{def: e.def}, refuse(f, t, e.def)
		}
	}
	return Values{e.def, e.values}, Outcome{Kind: Applied, Event: e.def.GoName, Key: printableKey(key)}
}
