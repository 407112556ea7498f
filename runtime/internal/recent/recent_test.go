package recent_test

import (
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
