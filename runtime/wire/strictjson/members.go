package strictjson

// Once says that a declared member was met. Meeting it twice is an error.
func (s *Scanner) Once(met *bool) {
	if *met {
		s.fail("occurs twice")
	}
	*met = true
}

// Require fails unless the member called name was met. Call it after the last member of the
// object.
func (s *Scanner) Require(met bool, name string) {
	if !met {
		s.failMissing(name)
	}
}
