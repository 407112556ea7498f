package recent

import "encoding/binary"

// index finds the place of a key in a ring, by open addressing: a cell holds a place plus
// one, or 0, and a key's cell is the first one from its own on that holds it. At least half
// of the cells are 0. Their number is a power of two.
type index []uint16

// home is the cell where a key's search begins. Keys are hashes already; for those that are
// not, the first bits of the product depend on all bits of the key.
func (x index) home(key [16]byte) int {
	h := binary.LittleEndian.Uint64(key[:8]) ^ binary.LittleEndian.Uint64(key[8:])
	return int(h * 0x9E3779B97F4A7C15 >> 32 * uint64(len(x)) >> 32)
}

// cell is the cell of a key: the one that holds it, or the one where it would go.
func (x index) cell(ring []slot, key [16]byte) int {
	i := x.home(key)
	for x[i] != 0 && ring[x[i]-1].key != key {
		i = (i + 1) & (len(x) - 1)
	}
	return i
}

func (x index) find(ring []slot, key [16]byte) (place int, ok bool) {
	if len(x) == 0 {
		return 0, false
	}
	i := x.cell(ring, key)
	return int(x[i]) - 1, x[i] != 0
}

// put has a key's cell name its newest place.
func (x index) put(ring []slot, place int) { x[x.cell(ring, ring[place].key)] = uint16(place + 1) }

// grow makes room for as many keys as the ring has places, and finds all of them again.
func (x *index) grow(ring []slot) {
	if 2*len(ring) <= len(*x) {
		return
	}
	*x = make(index, max(2*len(*x), 8))
	for place := range ring {
		x.put(ring, place) // a later place of the same key takes the cell over
	}
}

// remove forgets the key at a place, unless the index knows a newer place of it. Keys after
// it that were put there because its cell was taken move up.
func (x index) remove(ring []slot, place int) {
	hole := x.cell(ring, ring[place].key)
	if x[hole] != uint16(place+1) {
		return
	}
	mask := len(x) - 1
	for i := (hole + 1) & mask; x[i] != 0; i = (i + 1) & mask {
		home := x.home(ring[x[i]-1].key)
		if (i-home)&mask >= (i-hole)&mask { // its search passes the hole
			x[hole], hole = x[i], i
		}
	}
	x[hole] = 0
}

// cleared is the index with nothing in it.
func (x index) cleared() index {
	clear(x)
	return x
}
