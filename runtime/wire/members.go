package wire

// Members is the set of declared members that were met in one object, at most 256.
type Members [4]uint64

// Add records that member i was met; meeting it twice is an error of s.
func (m *Members) Add(s *Scanner, i uint8) {
	if m.Has(i) {
		s.fail("occurs twice")
	}
	m[i>>6] |= 1 << (i & 63)
}

// Has reports whether member i was met.
func (m *Members) Has(i uint8) bool { return m[i>>6]&(1<<(i&63)) != 0 }

// Require fails unless each named member was met: names[i] is member i, and "" one that
// may be absent. Call it after the last member of the object.
func (m *Members) Require(s *Scanner, names ...string) {
	for i, name := range names {
		if name != "" && !m.Has(uint8(i)) {
			s.failMissing(name)
			return
		}
	}
}
