package draft

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// Outbox is what the service sends, as far as it is resolved.
type Outbox struct {
	Spec   *schema.Outbox
	Model  *model.Outbox
	Events []*OutEvent
}

// OutEvent is an event of the outbox. In a broken one fields may be missing.
type OutEvent struct {
	Spec   *schema.OutEvent
	Model  *model.OutEvent
	Fields []Field // those of the value
	Broken bool
}

// Is names the event in a message: `outbox event "OrderAccepted"`.
func (o *OutEvent) Is() string { return "outbox event " + wording.Quote(o.Spec.Name.Value) }

// Event returns the event of a name, or nil; o may be nil.
func (o *Outbox) Event(name string) *OutEvent {
	if o == nil {
		return nil
	}
	i := slices.IndexFunc(o.Events, func(e *OutEvent) bool { return e.Spec.Name.Value == name })
	if i < 0 {
		return nil
	}
	return o.Events[i]
}

// Names are the names of the events, in spec order; o may be nil.
func (o *Outbox) Names() (names []string) {
	if o == nil {
		return nil
	}
	for _, e := range o.Events {
		names = append(names, e.Spec.Name.Value)
	}
	return names
}

// Complete reports whether no part of the outbox was refused; o may be nil.
func (o *Outbox) Complete() bool {
	return o == nil || !o.Spec.Broken && !slices.ContainsFunc(o.Events, func(e *OutEvent) bool { return e.Broken })
}

// Emit is a step that sends an event of the outbox, while it is resolved. Of the step there is no
// table: its values are those of the outbox event's fields.
type Emit struct {
	Step  *Step
	Of    *OutEvent // nil if it is unknown
	Model *model.Emit
}
