package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// consumed is a topic, or a pattern of topics, and where the spec names it.
type consumed struct {
	schema.Text
	parts model.Pattern
}

// checkTopicsOnce reports topics of Kafka that two entries consume, or one twice (E214).
func checkTopicsOnce(report *schema.Diagnostics, d *draft.Service) {
	seen := topicsSeen{first: map[string]consumed{}}
	for _, t := range d.Topics {
		for _, c := range consumes(t) {
			if was, topic := seen.meets(c); topic != "" {
				message := fmt.Sprintf("topic %s is consumed twice", wording.Quote(topic))
				if c.Value != topic || was.Value != topic {
					message += fmt.Sprintf(": %s and %s", wording.Quote(was.Value), wording.Quote(c.Value))
				}
				report.Add(c.Pos, "E214", message, fmt.Sprintf("the first one is on line %d: put the events of both under one entry", was.Pos.Line))
				continue
			}
			seen.add(c)
		}
	}
}

// consumes is what an entry reads.
func consumes(t *draft.Topic) (all []consumed) {
	if t.Spec.Pattern != nil {
		return []consumed{{t.Spec.Pattern.Text, t.Model.Pattern}}
	}
	names := []schema.Text{t.Spec.Name}
	if t.Spec.InKafka != nil {
		names = []schema.Text{*t.Spec.InKafka}
	} else if t.Spec.Several != nil {
		names = t.Spec.Several.Items
	}
	for _, name := range names {
		var parts model.Pattern
		for _, part := range strings.Split(name.Value, ".") {
			parts = append(parts, model.NamePart{Literal: part})
		}
		all = append(all, consumed{name, parts})
	}
	return all
}

// topicsSeen is what earlier entries read.
type topicsSeen struct {
	first           map[string]consumed // names
	names, patterns []consumed
}

func (s *topicsSeen) add(c consumed) {
	if len(c.parts.Segments()) > 0 {
		s.patterns = append(s.patterns, c)
		return
	}
	s.first[c.Value], s.names = c, append(s.names, c)
}

// meets returns what was seen of a topic of c, and that topic.
func (s *topicsSeen) meets(c consumed) (was consumed, topic string) {
	if was, taken := s.first[c.Value]; taken {
		return was, c.Value
	}
	others := s.patterns
	if len(c.parts.Segments()) > 0 {
		others = slices.Concat(s.names, s.patterns)
	}
	for _, was := range others {
		if topic := inBoth(was.parts, c.parts); topic != "" {
			return was, topic
		}
	}
	return consumed{}, ""
}

// inBoth is the name of a topic that matches both; "" if there is none.
func inBoth(a, b model.Pattern) string {
	if len(a) != len(b) {
		return ""
	}
	parts := make([]string, len(a))
	for i := range a {
		switch {
		case a[i].Segment != "" && b[i].Segment != "":
			parts[i] = a[i].Segment
		case a[i].Segment != "":
			parts[i] = b[i].Literal
		case b[i].Segment != "" || a[i].Literal == b[i].Literal:
			parts[i] = a[i].Literal
		default:
			return ""
		}
	}
	name := strings.Join(parts, ".")
	for _, p := range []model.Pattern{a, b} {
		if !p.Matches(name) && p.String() != name { // names of two dots in a row match themselves only
			return ""
		}
	}
	return name
}
