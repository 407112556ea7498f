// Package bloom is a filter that knows which keys are surely not in a set: of those that it was
// given it never denies one, of others it takes one in 15,000 for one of them. The last 11
// bytes of a key are of a hash. It must not import any other package of this module.
package bloom

import (
	"encoding/binary"
	"math/bits"
)

const (
	// bitsPerKey is chosen so that most batches of 500 keys meet no false alarm in four or five
	// filters, and so need no further round trip: with 10 bits every batch would meet twenty.
	bitsPerKey = 20
	hashes     = 14
)

// Filter is a set of keys that may take others for its own. Add may not run while another
// goroutine uses it; Has may run in any number.
type Filter struct{ words []uint64 }

// Bytes is the memory of a filter for a number of keys.
func Bytes(keys int64) int64 { return (max(keys, 1)*bitsPerKey + 63) / 64 * 8 }

// New returns an empty filter for a number of keys. With more it stays right, and takes
// more keys for its own.
func New(keys int64) *Filter { return &Filter{make([]uint64, Bytes(keys)/8)} }

// Add adds a key.
func (f *Filter) Add(key [16]byte) {
	at, step := split(key)
	for range hashes {
		word, bit := f.place(at)
		f.words[word] |= bit
		at += step
	}
}

// Has reports whether the key may have been added. False is certain.
func (f *Filter) Has(key [16]byte) bool {
	at, step := split(key)
	for range hashes {
		if word, bit := f.place(at); f.words[word]&bit == 0 {
			return false
		}
		at += step
	}
	return true
}

// split makes two numbers of what is hash in a key. The step is odd, so that it reaches every
// place. They share bytes, which are the first ones of the one and the last ones of the other.
func split(key [16]byte) (at, step uint64) {
	return binary.LittleEndian.Uint64(key[5:]), binary.BigEndian.Uint64(key[8:]) | 1
}

// place maps a hash onto the filter's bits, evenly and without a division.
func (f *Filter) place(hash uint64) (word int, bit uint64) {
	n, _ := bits.Mul64(hash, uint64(len(f.words))*64)
	return int(n / 64), 1 << (n % 64)
}

// Size is the filter's memory in bytes.
func (f *Filter) Size() int64 { return int64(len(f.words)) * 8 }
