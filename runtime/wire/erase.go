package wire

import "errors"

// errProbed ends the plan's work on a record. Only its event is asked for.
var errProbed = errors.New("idem: only the event was asked for")

// Probe reports whether a record is of an event with erase_traces. The batch stays as it is.
func Probe(b *Batch, m *Message) (erases bool) {
	b.record = record{outcome: Applied, probe: true}
	b.keys.former = b.keys.former[:0]
	_ = b.plan.Add(b, m) // whatever it says, it took nothing
	b.record.probe = false
	return b.record.erases
}

// Erases reports whether the last record that was added is of an event with erase_traces.
func Erases(b *Batch) bool { return b.record.erases }

// Erasable reports whether some event of the service erases what is kept of records of a topic.
func (s *Service) Erasable(t *Topic) bool {
	for i := range s.Topics {
		for _, name := range s.Topics[i].Erases {
			if name == t.Name {
				return true
			}
		}
	}
	return false
}

// ErasedBy is a regular expression for the names of the topics whose records an event of the topic
// erases; "" if none has erase_traces.
func (s *Service) ErasedBy(t *Topic) (expression string) {
	for i := range s.Topics {
		for _, name := range t.Erases {
			if s.Topics[i].Name != name {
				continue
			}
			if expression != "" {
				expression += "|"
			}
			expression += s.Topics[i].Expression()
		}
	}
	return expression
}
