package resolve

import (
	"slices"

	"github.com/idemgen/idemgen/generator/definition"
	"github.com/idemgen/idemgen/generator/model"
)

// defineContents gives every event the definition of its content, and those of the events
// with which it shares keys. Where the name counts, it is in the fingerprint: so all of them
// compare.
func defineContents(s *model.Service) {
	var stored []*model.Event
	bySpace := map[[16]byte][]*model.Event{}
	for _, t := range s.Topics {
		for _, e := range t.Events {
			if !e.Key.Offset {
				e.Key.Content = definition.Content(e)
				bySpace[e.Key.Space] = append(bySpace[e.Key.Space], e)
				stored = append(stored, e)
			}
		}
	}
	for _, e := range stored {
		if len(e.Key.Compared) == 0 && !e.Key.CompareName {
			continue
		}
		for _, o := range bySpace[e.Key.Space] {
			if content := o.Key.Content; content != e.Key.Content && !slices.Contains(e.Key.ContentSame, content) {
				e.Key.ContentSame = append(e.Key.ContentSame, content)
			}
		}
	}
}
