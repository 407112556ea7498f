package recent

import (
	"encoding/binary"
	"testing"
	"time"
	"unsafe"
)

// add adds n keys that were not added before, the first of them with number from.
func add(k *Keys, from, n int) {
	for i := range n {
		k.Add(number(from+i), Entry{Seq: int64(from + i)}, time.Time{})
	}
}

func number(i int) (key [16]byte) {
	binary.BigEndian.PutUint64(key[8:], uint64(i))
	return key
}

// A partition has a memory of its own, so that what append has to spare would be there often.
func TestAKeyTakesThirtySixBytes(t *testing.T) {
	const most = 1 << 14
	k := New(most, time.Hour)
	add(k, 0, 2*most)
	slots, cells := cap(k.ring)*int(unsafe.Sizeof(slot{})), cap(k.index)*int(unsafe.Sizeof(index{}[0]))
	if slots+cells != 36*most {
		t.Errorf("%d keys take %d bytes and %d in the index, want 36 each", most, slots, cells)
	}
}

// The index names no more places than fit into its cells.
func TestAMemoryIsAsLargeAsItsIndexCanName(t *testing.T) {
	k := New(1<<17, time.Hour)
	add(k, 0, limit+10)
	for i := range limit + 10 {
		if e, ok := k.Find(number(i), time.Time{}); ok != (i >= 10) || ok && e.Seq != int64(i) {
			t.Fatalf("key %d: %v %v", i, e, ok)
		}
	}
}
