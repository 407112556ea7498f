package oracle

import "github.com/idemgen/idemgen/generator/model"

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
	opened, p, f := in.opened(t, &r)
	if f != nil {
		return Values{}, refuse(f, t.OnFailure.GiveUp, nil)
	}
	def, policy, f := in.dispatch(t, opened, p)
	switch {
	case f != nil:
		return Values{}, refuse(f, policy, nil)
	case def == nil:
		return Values{}, Outcome{Kind: Ignored}
	}
	giveUp := def.OnFailure.GiveUp
	e, f := in.read(def, opened, p)
	if f != nil {
		return Values{def: def}, refuse(f, giveUp, def)
	}
	key, f := e.key()
	if f == nil && (!e.def.Returns() || e.result != nil) { // else nobody says what the rows hold
		_, f = e.rows()
	}
	if f != nil {
		return Values{def: def}, refuse(f, giveUp, def)
	}
	return Values{def, e.values}, Outcome{Kind: Applied, Event: def.GoName, Key: printableKey(key)}
}
