package generator

import "slices"

// keyChanges notes that older versions halt behind this one.
func (u *unit) keyChanges() {
	switch {
	case u.old == nil || u.next.Identity == u.old.Identity:
	case slices.Contains(u.old.Ahead, u.next.Identity):
		u.note("%s: former sources are gone from also: versions of the service from before they were there halt on partitions that this one has written\n", u.Path)
	default:
		u.note("%s: events have another identity, which idemgen plan tells: roll out without going back: an older version of the service halts on partitions that this one has written\n", u.Path)
	}
}
