package model

import (
	"slices"
	"strings"
)

// Pattern says which topics an entry is about by the parts of their names, which dots divide.
type Pattern []NamePart

// NamePart is a part of a topic's name: a text, or a segment, which stands for any.
type NamePart struct {
	Literal string
	Segment string // its name; "" if the part is literal
}

// Index is the place of a segment among the parts, from 0; -1 if no part has that name.
func (p Pattern) Index(segment string) int {
	return slices.IndexFunc(p, func(part NamePart) bool { return part.Segment == segment })
}

// Segments are the names of the segments, in their order.
func (p Pattern) Segments() (names []string) {
	for _, part := range p {
		if part.Segment != "" {
			names = append(names, part.Segment)
		}
	}
	return names
}

// String is the pattern as the spec writes it.
func (p Pattern) String() string {
	parts := make([]string, len(p))
	for i, part := range p {
		parts[i] = part.Literal
		if part.Segment != "" {
			parts[i] = "<" + part.Segment + ">"
		}
	}
	return strings.Join(parts, ".")
}

// Matches reports whether the topic of a name is one of the pattern's. A segment in front matches
// no name of two underscores and more: such topics are Kafka's own.
func (p Pattern) Matches(topic string) bool {
	parts := strings.Split(topic, ".")
	if len(parts) != len(p) || p[0].Segment != "" && strings.HasPrefix(topic, "__") {
		return false
	}
	for i, part := range p {
		if part.Segment == "" && parts[i] != part.Literal || parts[i] == "" {
			return false
		}
	}
	return true
}

// Reads reports whether the topic of a name is one of the entry's.
func (t *Topic) Reads(name string) bool {
	return slices.Contains(t.Kafka, name) || len(t.Pattern) > 0 && t.Pattern.Matches(name)
}

// TopicsText is the topics of the entry in words, for comments and messages.
func (t *Topic) TopicsText() string {
	if len(t.Pattern) > 0 {
		return t.Pattern.String()
	}
	return strings.Join(t.Kafka, ", ")
}
