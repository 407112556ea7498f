package wire

import (
	"crypto/sha256"
	"time"
)

// Lock is what no two calls work on at the same time, whatever their events, consumers and
// processes are. Its zero value is no lock.
type Lock struct {
	Name string // consumers that give it the same name share it
	Key  Key    // hash of the values that tell which one it is
	// Token is that of the holder, in what a call was made for: greater than those of all who
	// held the lock before. 0 if nobody holds it.
	Token int64
}

// LockTerms is lock of an event with a handler, with every default filled in. It is read only. A
// lock of an effect has those of the effect.
type LockTerms struct {
	Lease    time.Duration // how long others wait after the holder was heard of
	External bool          // store: redis: it is in the store that the service was given
}

// NewLock is the lock of some values, as texts, among those of a name. Values with equal texts are
// one lock, whatever their types and the names of their fields are.
func NewLock(name string, values ...string) Lock {
	var p parts
	for _, v := range values {
		p.text(partText, v)
	}
	h := sha256.Sum256(p)
	return Lock{Name: name, Key: Key(h[:16])}
}
