package recent_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/recent"
)

var start = time.Now()

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func TestTheOldestKeysAreForgottenFirst(t *testing.T) {
	k := recent.New(3, time.Hour)
	for i := range byte(7) {
		k.Add([16]byte{i}, recent.Entry{Print: uint32(i), Seq: int64(i)}, start)
	}
	for i := range byte(7) {
		e, ok := k.Find([16]byte{i}, start)
		if ok != (i >= 4) || ok && e != (recent.Entry{Print: uint32(i), Seq: int64(i)}) {
			t.Errorf("key %d: %v %v", i, e, ok)
		}
	}
}

func TestKeysAreForgottenAfterTheirTime(t *testing.T) {
	k := recent.New(10, 5*time.Second)
	k.Add([16]byte{1}, recent.Entry{}, after(0))
	k.Add([16]byte{2}, recent.Entry{}, after(1))
	if _, ok := k.Find([16]byte{1}, after(6)); ok {
		t.Error("a key is known 6 s after it was added, keep is 5 s")
	}
	if _, ok := k.Find([16]byte{2}, after(6)); !ok {
		t.Error("a key is forgotten after 5 s, keep is 5 s")
	}
}

func TestMemoryWithoutRoomKnowsNothing(t *testing.T) {
	k := recent.New(0, time.Hour)
	k.Add([16]byte{1}, recent.Entry{}, start)
	if _, ok := k.Find([16]byte{1}, start); ok {
		t.Error("found")
	}
}

// Places are used again and keys added again; whatever that does to the index, what is
// remembered is found, and nothing else.
func TestAllKeysOfALargeMemoryAreFound(t *testing.T) {
	const most, keys, adds = 1000, 1500, 50_000
	r := rand.New(rand.NewPCG(1, 2))
	k := recent.New(most, time.Hour)
	last := map[int]int{}
	for n := range adds {
		i := r.IntN(keys)
		k.Add(key(i), recent.Entry{Def: uint32(i), Print: 7, Seq: int64(n)}, start)
		last[i] = n
		for range 5 {
			i := r.IntN(keys)
			at, ok := last[i]
			ok = ok && n-at < most
			if e, found := k.Find(key(i), start); found != ok || ok && e != (recent.Entry{Def: uint32(i), Print: 7, Seq: int64(at)}) {
				t.Fatalf("after %d: key %d: %v %v, want row %d %v", n, i, e, found, at, ok)
			}
		}
	}
}

// key has few different bytes where the index begins its search, so that searches meet.
func key(i int) [16]byte { return [16]byte{byte(i), 9: byte(i >> 8), 15: 1} }

// Rows and times that are too far from the first ones are remembered rightly, or not at all.
func TestFarRowsAndTimes(t *testing.T) {
	k := recent.New(10, 200*24*time.Hour)
	for n, add := range []struct {
		seq int64
		at  time.Duration
	}{{5, 0}, {6, time.Hour}, {5 + 1<<33, time.Hour}, {6 + 1<<33, 2 * time.Hour}, {7, 2 * time.Hour}, {8, 99 * 24 * time.Hour}, {9, time.Minute}, {10, time.Minute}} {
		now := start.Add(add.at)
		k.Add(key(n), recent.Entry{Seq: add.seq}, now)
		for i := range n + 1 {
			e, ok := k.Find(key(i), now)
			if i == n && (!ok || e.Seq != add.seq) {
				t.Errorf("key %d: %v %v", i, e, ok)
			}
			if want := []int64{5, 6, 5 + 1<<33, 6 + 1<<33, 7, 8, 9, 10}[i]; ok && e.Seq != want {
				t.Errorf("key %d is of row %d, want %d", i, e.Seq, want)
			}
		}
	}
	if _, ok := k.Find(key(6), start.Add(time.Hour)); !ok {
		t.Error("a key before the last one is forgotten although they are near")
	}
}

func BenchmarkAddAndFind(b *testing.B) {
	k := recent.New(1<<15, time.Hour)
	b.ReportAllocs()
	r := rand.New(rand.NewPCG(1, 2)) // keys are hashes
	for n := 0; b.Loop(); n++ {
		id := [16]byte{}
		binary.BigEndian.PutUint64(id[:], r.Uint64())
		binary.BigEndian.PutUint64(id[8:], r.Uint64())
		k.Find(id, start)
		k.Add(id, recent.Entry{Seq: int64(n)}, start)
	}
}

// The memory answers as a plain list of the last keys would, whatever is added.
func FuzzKeysAnswerAsAListWould(f *testing.F) {
	f.Add([]byte{1, 2, 3, 1, 1, 4, 5, 2}, 3, 4)
	f.Fuzz(func(t *testing.T, adds []byte, most, keep int) {
		most, keep = most&15, keep&15
		k := recent.New(most, time.Duration(keep)*time.Second)
		for n, key := range adds {
			k.Add([16]byte{key}, recent.Entry{Seq: int64(n)}, after(n))
			for ask := range byte(8) {
				want := int64(-1)
				for i := max(0, n+1-most, n-keep); i <= n; i++ {
					if adds[i] == ask {
						want = int64(i)
					}
				}
				e, ok := k.Find([16]byte{ask}, after(n))
				if ok != (want >= 0) || ok && e.Seq != want {
					t.Fatalf("after %d: key %d: got %v %v, want seq %d", n, ask, e.Seq, ok, want)
				}
			}
		}
	})
}
