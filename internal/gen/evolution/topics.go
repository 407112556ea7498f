package evolution

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// topics are the changes of what entries read: name.
func (c *comparison) topics() {
	for _, now := range c.now.Service.Topics {
		i := slices.IndexFunc(c.old.Service.Topics, func(t *model.Topic) bool { return t.Name == now.Name })
		if i < 0 {
			continue
		}
		old := c.old.Service.Topics[i]
		before, after := old.Kafka, now.Kafka
		var why []string
		do := ""
		if !covers(before, after) {
			why = append(why, "topics that are new to it are read from start_from, and the others continue")
		}
		if !covers(after, before) {
			why = append(why, "topics that are no longer among them are not read; their ledgers, keys and rows stay")
			do = "deploy this once they have been read to their ends"
		}
		place, verdict := "/topics/"+now.Name, Compatible
		if len(why) == 2 && byTopic(now) {
			verdict = BreaksDedup
			why = append(why, "a duplicate there of an event that was applied before is not recognized: another topic has other offsets and other partitions")
			do += ", and only if the new topics contain none of their events"
		}
		if len(why) > 0 {
			c.add(verdict, fmt.Sprintf("topics.%s now reads `%s`; it read `%s`", now.Name, now.TopicsText(), old.TopicsText()), strings.Join(why, "; "), do)
		}
		c.tell(place + "/name")
	}
}

// byTopic reports whether a key of an entry holds within one of its topics only.
func byTopic(t *model.Topic) bool {
	return slices.ContainsFunc(t.Events, func(e *model.Event) bool {
		return e.Key != nil && (e.Key.Offset || e.Key.SamePartition || slices.ContainsFunc(e.Key.Parts, func(k model.KeySource) bool {
			return k.Field != nil && slices.Contains([]string{"topic", "partition", "offset"}, k.Field.Source.Record)
		}))
	})
}

// covers reports whether each topic of b is one of a.
func covers(a, b []string) bool {
	return !slices.ContainsFunc(b, func(name string) bool { return !slices.Contains(a, name) })
}
