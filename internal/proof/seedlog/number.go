package seedlog

import (
	"crypto/sha256"
	"encoding/binary"
)

// numbers are those that rows and records have taken.
type numbers map[int]bool

// take returns the first of so many free numbers in a row, of six digits where that is possible.
// Where it looks first depends on the name alone.
func (taken numbers) take(name string, count int) int {
	from := 100_000 + int(hash(name)%900_000)
	for n := 0; n < count; n++ {
		if taken[from+n] {
			from, n = from+n+1, -1
		}
	}
	for n := range count {
		taken[from+n] = true
	}
	return from
}

func hash(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:])
}
