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
	for _, t := range s.Topics {
		for _, e := range t.Events {
			if !e.Key.Offset {
				e.Key.Content = definition.Content(e)
				stored = append(stored, e)
			}
		}
	}
	for _, e := range stored {
		if len(e.Key.Compared) == 0 && !e.Key.CompareName {
			continue
		}
		for _, o := range stored {
			if o.Key.Content != e.Key.Content && !slices.Contains(e.Key.ContentSame, o.Key.Content) && sharesKeys(e.Key, o.Key) {
				e.Key.ContentSame = append(e.Key.ContentSame, o.Key.Content)
			}
		}
	}
}

// sharesKeys reports whether a key of one event may be one of another's.
func sharesKeys(a, b *model.IdempotencyKey) bool {
	return slices.ContainsFunc(spaces(a), func(s [16]byte) bool { return slices.Contains(spaces(b), s) })
}

// spaces are those of the key and of its former sources.
func spaces(k *model.IdempotencyKey) [][16]byte {
	all := [][16]byte{k.Space}
	for _, former := range k.Former {
		all = append(all, former.Space)
	}
	return all
}
