package wire

import "encoding/hex"

// Key is the 128-bit identity of an event: the start of a SHA-256 over the parts that the spec
// names. If one of them tells an order in which keys are made, such as a UUID of version 7, the
// first five bytes are of that order instead. Its zero value means "identified by its offset":
// nothing is stored.
type Key [16]byte

// String returns the key as 32 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }
