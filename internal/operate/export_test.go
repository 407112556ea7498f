package operate

import "time"

// Judge judges a state that a test made.
func (s *State) Judge() []Problem { return s.judge() }

// Said returns the cause of all dead letters of a database. The group is the largest part of them.
func (g *Group) Said(all int) string { return g.said(all) }

// SearchOnce lets a search read letters once.
func SearchOnce() (again func()) {
	was := searchTime
	searchTime = 0
	return func() { searchTime = was }
}

// AskedSince returns a group whose first pending request is of that time.
func AskedSince(g Group, at time.Time) Group {
	g.askedAt = at
	return g
}

// What an error of an append means.
var (
	IsUnknown = isUnknown
	IsMoved   = isMoved
)

// Steps are what an operator can do next.
func (o *Opened) Steps() []string { return o.next() }
