package wire

// Topic finds what the service says of a topic of Kafka; nil if it does not read it.
func (s *Service) Topic(name string) *Topic {
	for i := range s.Topics {
		if s.Topics[i].Name == name {
			return &s.Topics[i]
		}
	}
	return nil
}
