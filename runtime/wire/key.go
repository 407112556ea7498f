package wire

import "encoding/hex"

// Key is the 128-bit identity of an event: the first 16 bytes of a SHA-256 over the parts that the
// spec names. If one of the parts is created in ascending order, such as a UUID of version 7, the
// first five bytes of the key come from that part instead. The zero value means that the event is
// identified by its offset, and no key is stored.
type Key [16]byte

// String returns the key as 32 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }
