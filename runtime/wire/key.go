package wire

import "encoding/hex"

// Key is the 128-bit identity of an event: the start of a SHA-256 over the parts that
// the spec names. Its zero value means "identified by its offset": nothing is stored.
type Key [16]byte

// String returns the key as 32 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }
