package strictjson

// Once records in seen that a declared member occurred. A second time is an error.
func (s *Scanner) Once(met *bool) {
	if *met {
		s.fail("occurs twice")
	}
	*met = true
}

// Require records an error unless the member called name occurred. Call it after the last member
// of the object.
func (s *Scanner) Require(met bool, name string) {
	if !met {
		s.failMissing(name)
	}
}
