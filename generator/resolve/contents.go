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
	bySpace := map[[16]byte][]int{} // places in stored
	for _, t := range s.Topics {
		for _, e := range t.Events {
			if !e.Key.Offset {
				e.Key.Content = definition.Content(e)
				for _, space := range spaces(e.Key) {
					bySpace[space] = append(bySpace[space], len(stored))
				}
				stored = append(stored, e)
			}
		}
	}
	for _, e := range stored {
		if len(e.Key.Compared) == 0 && !e.Key.CompareName {
			continue
		}
		var sharing []int
		for _, space := range spaces(e.Key) {
			sharing = append(sharing, bySpace[space]...)
		}
		slices.Sort(sharing)
		for _, i := range slices.Compact(sharing) {
			if content := stored[i].Key.Content; content != e.Key.Content && !slices.Contains(e.Key.ContentSame, content) {
				e.Key.ContentSame = append(e.Key.ContentSame, content)
			}
		}
	}
}

// spaces are those of the key and of its former sources.
func spaces(k *model.IdempotencyKey) [][16]byte {
	all := [][16]byte{k.Space}
	for _, former := range k.Former {
		all = append(all, former.Space)
	}
	return all
}
