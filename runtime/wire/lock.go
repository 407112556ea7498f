package wire

import "crypto/sha256"

// Lock is what no two calls work on at the same time, whatever their events, consumers and
// processes are. Its zero value is no lock.
type Lock struct {
	Name string // consumers that give it the same name share it
	Key  Key    // hash of the values that tell which one it is
	// Token is that of the holder, in what a call was made for: greater than those of all who
	// held the lock before. 0 if nobody holds it.
	Token int64
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
