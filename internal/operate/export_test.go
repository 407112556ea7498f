package operate

// Judge judges a state that a test made.
func (s *State) Judge() []Problem { return s.judge() }
