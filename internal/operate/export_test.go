package operate

// Judge judges a state that a test made.
func (s *State) Judge() []Problem { return s.judge() }

// SearchOnce lets a search read letters once.
func SearchOnce() (again func()) {
	was := searchTime
	searchTime = 0
	return func() { searchTime = was }
}
