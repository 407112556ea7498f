package evolution

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// topics are the changes of what entries read: name, names and pattern.
func (c *comparison) topics() {
	for _, now := range c.now.Service.Topics {
		i := slices.IndexFunc(c.old.Service.Topics, func(t *model.Topic) bool { return t.FirstName() == now.FirstName() })
		if i < 0 {
			continue
		}
		old := c.old.Service.Topics[i]
		before, after := read(old), read(now)
		var why []string
		do := ""
		if !covers(before, after) {
			why = append(why, "topics that are new to it are read from start_from, and those of before go on")
		}
		if !covers(after, before) {
			why = append(why, "topics that are not among them any more are not read; their ledgers, keys and rows stay")
			do = "deploy this when they are read to their ends"
		}
		place, verdict := "/topics/"+now.Name, Compatible
		if len(why) == 2 && byTopic(now) {
			verdict = BreaksDedup
			why = append(why, "a copy there of an event that was applied before is not known: another topic has other offsets and other partitions")
			do += ", and only if the new topics hold none of their events"
		}
		if len(why) > 0 {
			c.add(verdict, fmt.Sprintf("topics.%s reads `%s`, and read `%s`", now.Name, now.TopicsText(), old.TopicsText()), strings.Join(why, "; "), do)
		}
		c.tell(place+"/name", place+"/names", place+"/pattern")
	}
}

// byTopic reports whether a key of an entry holds within one of its topics only.
func byTopic(t *model.Topic) bool {
	return slices.ContainsFunc(t.Events, func(e *model.Event) bool {
		return e.Key != nil && (e.Key.Offset || e.Key.OffsetIfMissing || e.Key.SamePartition)
	})
}

// read is what an entry reads; a name is a pattern without segments.
func read(t *model.Topic) []model.Pattern {
	if len(t.Pattern) > 0 {
		return []model.Pattern{t.Pattern}
	}
	var all []model.Pattern
	for _, name := range t.Kafka {
		var p model.Pattern
		for _, part := range strings.Split(name, ".") {
			p = append(p, model.NamePart{Literal: part})
		}
		all = append(all, p)
	}
	return all
}

// covers reports whether each topic of b is one of a.
func covers(a, b []model.Pattern) bool {
	return !slices.ContainsFunc(b, func(p model.Pattern) bool {
		return !slices.ContainsFunc(a, func(q model.Pattern) bool {
			return slices.EqualFunc(q, p, func(x, y model.NamePart) bool { return x.Segment != "" || y.Segment == "" && x.Literal == y.Literal })
		})
	})
}
