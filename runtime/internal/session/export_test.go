package session

// GiveBest is for the tests, which cannot import what imports this package.
var GiveBest = giveBest

// Marked returns a session that has a mark and nothing else.
func Marked(mark string) *Session { return &Session{mark: mark} }

var Parameters = parameters
