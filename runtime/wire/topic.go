package wire

import (
	"regexp"
	"strings"
)

// A topic's name may be a pattern, in which each <name> stands for one part between dots. A topic
// of Kafka has no < in its name.

// Topic finds what the service says of a topic of Kafka; nil if it does not read it.
func (s *Service) Topic(name string) *Topic {
	for i := range s.Topics {
		if s.Topics[i].Name == name && !s.Topics[i].IsPattern() {
			return &s.Topics[i]
		}
	}
	for i := range s.Topics {
		if s.Topics[i].IsPattern() && s.Topics[i].matches(name) {
			return &s.Topics[i]
		}
	}
	return nil
}

// IsPattern reports whether the topic stands for every topic whose name has the form of its own.
func (t *Topic) IsPattern() bool { return strings.Contains(t.Name, "<") }

// matches reports whether a name has the form of the pattern. A segment in front takes no name of
// two underscores and more: such topics are Kafka's own.
func (t *Topic) matches(name string) bool {
	if strings.HasPrefix(t.Name, "<") && strings.HasPrefix(name, "__") {
		return false
	}
	parts := strings.Split(name, ".")
	for i, part := range strings.Split(t.Name, ".") {
		switch {
		case i == len(parts) || parts[i] == "":
			return false
		case strings.HasPrefix(part, "<"):
		case part != parts[i]:
			return false
		}
	}
	return len(parts) == strings.Count(t.Name, ".")+1
}

// Expression is a regular expression for the whole names that the topic stands for. It is written
// so that POSIX, Java and RE2 read it alike.
func (t *Topic) Expression() string {
	parts := strings.Split(t.Name, ".")
	for i, part := range parts {
		switch {
		case !strings.HasPrefix(part, "<"):
			parts[i] = regexp.QuoteMeta(part)
		case i == 0:
			parts[i] = "(_?[A-Za-z0-9-][A-Za-z0-9_-]*|_)" // not __
		default:
			parts[i] = "[A-Za-z0-9_-]+"
		}
	}
	return "^" + strings.Join(parts, "[.]") + "$"
}

// Segment is part number n of the name of the record's topic, from 0; "" if there is none.
func (m *Message) Segment(n int) string {
	rest := m.Topic
	for ; n > 0; n-- {
		_, after, ok := strings.Cut(rest, ".")
		if !ok {
			return ""
		}
		rest = after
	}
	part, _, _ := strings.Cut(rest, ".")
	return part
}
