package generator

// keyChanges notes that older versions halt behind this one.
func (u *unit) keyChanges() {
	if u.old != nil && u.next.Identity != u.old.Identity {
		u.note("%s: events have another identity, which idemgen plan tells: roll out without going back: an older version of the service halts on partitions that this one has written\n", u.Path)
	}
}
