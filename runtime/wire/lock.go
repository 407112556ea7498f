package wire

import "crypto/sha256"

// Lock excludes other calls under the same lock at the same time, whatever their events, consumers
// and processes are. The zero value means no lock.
type Lock struct {
	Name string // consumers that use the same name share the lock
	Key  Key    // hash of the values that identify it among those of the name
	// Token is the holder's token, in the delivery of a call: greater than those of all earlier
	// holders. It is 0 if the lock is not held.
	Token int64
}

// NewLock returns the lock called name for some values, given as texts. Equal texts are the same
// lock, whatever the types of the values and the names of their fields are.
func NewLock(name string, values ...string) Lock {
	var p parts
	for _, v := range values {
		p.text(partText, v)
	}
	h := sha256.Sum256(p)
	return Lock{Name: name, Key: Key(h[:16])}
}
