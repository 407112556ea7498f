package draft

import (
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Event is an entry of events.
type Event struct {
	Spec  *syntax.Event
	Model *model.Event
	Topic *Topic
	Scope Scope
	Steps []*Step
	// Unsure says that a part of the event was refused, so that an unused field proves
	// nothing.
	Unsure bool
}

// Is names the event in a message: `event "OrderPlaced"`.
func (e *Event) Is() string { return "event " + wording.Quote(e.Spec.Name.Value) }

// InTopic names the event together with its topic.
func (e *Event) InTopic() string {
	return e.Is() + " of topic " + wording.Quote(e.Topic.Spec.Name.Value)
}

// KeySpec is the key that holds for the event: its own, or the topic's.
func (e *Event) KeySpec() *syntax.IdempotencyKey {
	if e.Spec.IdempotencyKey != nil {
		return e.Spec.IdempotencyKey
	}
	return e.Topic.Spec.IdempotencyKey
}
