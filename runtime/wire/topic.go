package wire

import "strings"

// Topic finds what the service says of a topic of Kafka; nil if it does not read it.
func (s *Service) Topic(name string) *Topic {
	for i := range s.Topics {
		if s.Topics[i].Name == name {
			return &s.Topics[i]
		}
	}
	return nil
}

// Expression is a regular expression for the name of the topic.
func (t *Topic) Expression() string { return "^" + strings.ReplaceAll(t.Name, ".", "[.]") + "$" }
