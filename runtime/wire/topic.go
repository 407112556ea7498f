package wire

// Topic returns the service's topic for the Kafka topic called name; nil if the service does not
// read it.
func (s *Service) Topic(name string) *Topic {
	for i := range s.Topics {
		if s.Topics[i].Name == name {
			return &s.Topics[i]
		}
	}
	return nil
}
