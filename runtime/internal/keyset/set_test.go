package keyset

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// entry is a key made of a number, with the number as fingerprint.
func entry(n uint32) []byte {
	h := sha256.Sum256(binary.BigEndian.AppendUint32(nil, n))
	return binary.BigEndian.AppendUint32(h[:16:16], n)
}

// appendGroup adds a group to what a row says of its keys.
func appendGroup(b []byte, def uint32, keys int) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, def), uint32(keys))
}

func row(seq int64, written time.Time, keys ...uint32) Row {
	r := Row{Seq: seq, Written: written}
	for _, k := range keys {
		r.Keys = append(r.Keys, entry(k)...)
	}
	r.Defs = appendGroup(nil, 1, len(keys))
	return r
}

func has(s *Set, k uint32) bool {
	print, _, ok := s.Find([16]byte(entry(k)))
	return ok && print == k
}

// defOf is the definition of a key in a row of TestSetHoldsTheKeysOfTheWindow.
func defOf(key uint32, seq int64) uint32 {
	if seq <= 40 {
		return 1
	}
	return key % 3
}

// However rows are added or loaded and windows pass, the Set holds the keys of the rows
// from its window on, and never more than a part of the window too long.
func TestSetHoldsTheKeysOfTheWindow(t *testing.T) {
	const window = 8 * time.Hour
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s, now, first := New(NewBudget(1<<30), window), epoch, int64(0)
		var rows []Row
		next := uint32(0)
		for seq := range int64(200) {
			now = now.Add(time.Duration(rnd.IntN(60)) * time.Minute)
			var keys []uint32
			for range rnd.IntN(30) {
				keys = append(keys, next)
				next++
			}
			r := row(seq, now, keys...)
			if seq > 40 { // one definition at first, then several
				r.Defs = nil
				for n := range keys {
					r.Defs = appendGroup(r.Defs, defOf(keys[n], seq), 1)
				}
			}
			rows = append(rows, r)
			w := s.Window(now, window, seq)
			for i := range rows[:w] {
				if len(rows[i].Keys) > 0 && now.Sub(rows[i].Written) < window {
					t.Fatalf("row %d is forgotten after %v", i, now.Sub(rows[i].Written))
				}
			}
			first = max(first, w)
			if age := now.Sub(rows[first].Written); age > window+window/spans+time.Hour {
				t.Fatalf("row %d is remembered after %v", first, age)
			}
			s.Drop(first)
			s.Add(r)
			if rnd.IntN(20) == 0 { // another worker takes over
				s = New(NewBudget(1<<30), window)
				for _, r := range rows[first:] {
					if len(r.Keys) > 0 && !s.Load(r) {
						t.Fatal("full")
					}
				}
				s.Loaded()
			}
		}
		count := 0
		for i, r := range rows {
			for ; len(r.Keys) > 0; r.Keys = r.Keys[EntryBytes:] {
				n := binary.BigEndian.Uint32(r.Keys[16:])
				print, def, ok := s.Find([16]byte(r.Keys))
				if in := int64(i) >= first; ok != in || ok && (print != n || def != defOf(n, int64(i))) {
					t.Fatalf("key %d of row %d, window from %d: got %v %d %d", n, i, first, ok, print, def)
				} else if in {
					count++
				}
			}
		}
		if s.Len() != count {
			t.Fatalf("%d keys, want %d", s.Len(), count)
		}
	}
}

// After a failover the database's clock may stand behind what it said before. Keys stay for
// the whole window nevertheless: the youngest row of a segment counts, not its last one.
func TestKeysStayAlthoughTheClockWentBack(t *testing.T) {
	const window = 8 * time.Hour
	rows := []Row{row(0, epoch, 0), row(1, epoch.Add(30*time.Minute), 1), row(2, epoch.Add(10*time.Minute), 2)}
	added, loaded := New(NewBudget(1<<30), window), New(NewBudget(1<<30), window)
	for _, r := range rows {
		added.Add(r)
		if !loaded.Load(r) {
			t.Fatal("full")
		}
	}
	loaded.Loaded()
	for name, s := range map[string]*Set{"added": added, "loaded": loaded} {
		s.Drop(s.Window(epoch.Add(window+20*time.Minute), window, int64(len(rows)))) // 7:50 after row 1
		if !has(s, 1) {
			t.Errorf("%s: a key is forgotten within its window", name)
		}
	}
}

// Complete segments take 27 bytes per key, 30 if the definitions of its content are mixed, and
// what the budget counts is what they take.
func TestBytesPerKey(t *testing.T) {
	for defs, most := range map[int]float64{1: 27, 500: 30} {
		bytesPerKey(t, defs, most)
	}
}

func bytesPerKey(t *testing.T, defs int, most float64) {
	b := NewBudget(1 << 30)
	s := New(b, 8*time.Hour)
	const rows, perRow = 1600, 50
	for i := range uint32(rows) {
		var keys []uint32
		for k := range uint32(perRow) {
			keys = append(keys, i*perRow+k)
		}
		r := row(int64(i), epoch.Add(time.Duration(i)*8*time.Hour/rows), keys...)
		r.Defs = appendGroup(nil, i%uint32(defs), perRow)
		if !s.Reserve(r, 0) {
			t.Fatal("full")
		}
		promised := b.Used()
		if s.Add(r); b.Used() > promised {
			t.Fatalf("row %d takes %d bytes, %d were promised", i, b.Used(), promised)
		}
	}
	s.seal()
	s.count()
	if per := float64(b.Used()) / (rows * perRow); per > most || per < most-1 {
		t.Errorf("%.1f bytes per key with %d definitions", per, defs)
	}
	if s.Len() != rows*perRow || len(s.segments) > spans+1 {
		t.Errorf("%d keys in %d segments", s.Len(), len(s.segments))
	}
}

// A full memory refuses before it forgets anything, counts what is about to leave, and goes
// on when another Set is freed.
func TestFullMemoryRefuses(t *testing.T) {
	b := NewBudget(40 * 27)
	s, other := New(b, 8*time.Hour), New(b, 8*time.Hour)
	other.Add(row(0, epoch, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109))
	for n := uint32(0); s.Reserve(row(0, epoch, 0), 0); n++ {
		s.Add(row(int64(n), epoch.Add(time.Duration(n)*time.Minute), n))
		if b.Used() > b.Limit() {
			t.Fatalf("%d bytes of %d with %d keys", b.Used(), b.Limit(), n)
		}
	}
	n := uint32(s.Len())
	if n < 15 || n > 30 {
		t.Errorf("full with %d keys", n)
	}
	for k := range n {
		if !has(s, k) {
			t.Fatalf("key %d of %d is gone", k, n)
		}
	}
	if !s.Reserve(row(0, epoch, 0), int64(n)) {
		t.Error("refused although all of it is about to leave")
	}
	s.Add(row(int64(n), epoch, n))
	other.Free()
	other.Free()
	if !s.Reserve(row(0, epoch, 0), 0) {
		t.Error("refused although another was freed")
	}
	s.Free()
	if b.Used() != 0 {
		t.Errorf("%d bytes are held by nobody", b.Used())
	}
}

// A Set that is loaded stays within the budget, too.
func TestLoadOfTooManyKeysIsRefused(t *testing.T) {
	s := New(NewBudget(10*27), 8*time.Hour)
	var n uint32
	for n < 100 && s.Load(row(int64(n), epoch, n)) {
		n++
	}
	if n < 8 || n > 11 {
		t.Errorf("refused after %d keys", n)
	}
}

// Keys of a second definition take more room, which is asked for before they are loaded.
func TestLoadCountsASecondDefinition(t *testing.T) {
	const keys = 1000
	halves := [2]Row{row(0, epoch), row(1, epoch)}
	for k := range uint32(keys) {
		halves[k%2].Keys = append(halves[k%2].Keys, entry(k)...)
	}
	for second, limit := range map[uint32]int64{1: tableBytes(keys, false) + GroupBytes, 2: tableBytes(keys, true) + 2*GroupBytes} {
		for n, def := range []uint32{1, second} {
			halves[n].Defs = appendGroup(nil, def, keys/2)
		}
		for less := range int64(2) {
			b := NewBudget(limit - less)
			s := New(b, 8*time.Hour)
			if fits := s.Load(halves[0]) && s.Load(halves[1]); fits != (less == 0) {
				t.Errorf("definitions 1 and %d fit in %d bytes: %v", second, limit-less, fits)
			}
			if s.Loaded(); less == 0 && b.Used() > b.Limit() {
				t.Errorf("definitions 1 and %d: %d bytes of %d", second, b.Used(), b.Limit())
			}
		}
	}
}

func TestKeysNeedNoAllocation(t *testing.T) {
	s := New(NewBudget(1<<30), 8*time.Hour)
	var keys []uint32
	for k := range uint32(1000) {
		keys = append(keys, k)
	}
	s.Add(row(0, epoch, keys...))
	fresh, old := [16]byte(entry(1<<20)), [16]byte(entry(7))
	if n := testing.AllocsPerRun(100, func() { s.Find(fresh); s.Find(old) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Compare with a plain Go map.
func BenchmarkMillionKeys(b *testing.B) {
	const n, perRow = 1_000_000, 500
	all := make([]byte, 0, n*EntryBytes)
	for k := range uint32(n) {
		all = append(all, entry(k)...)
	}
	b.Run("load", func(b *testing.B) {
		for range b.N {
			s := New(NewBudget(1<<30), 8*time.Hour)
			for i := range n / perRow {
				s.Load(Row{Seq: int64(i), Written: epoch.Add(time.Duration(i) * 8 * time.Hour * perRow / n), Keys: all[i*perRow*EntryBytes:][:perRow*EntryBytes]})
			}
			s.Loaded()
		}
	})
	b.Run("load map", func(b *testing.B) {
		for range b.N {
			m := map[[16]byte]uint32{}
			for keys := all; len(keys) > 0; keys = keys[EntryBytes:] {
				m[[16]byte(keys)] = binary.BigEndian.Uint32(keys[16:])
			}
		}
	})
	s := New(NewBudget(1<<30), 8*time.Hour)
	m := map[[16]byte]uint32{}
	for i := range n / perRow {
		s.Add(Row{Seq: int64(i), Written: epoch.Add(time.Duration(i) * 8 * time.Hour * perRow / n), Keys: all[i*perRow*EntryBytes:][:perRow*EntryBytes]})
	}
	for keys := all; len(keys) > 0; keys = keys[EntryBytes:] {
		m[[16]byte(keys)] = binary.BigEndian.Uint32(keys[16:])
	}
	fresh := make([][16]byte, 1<<16)
	for i := range fresh {
		fresh[i] = [16]byte(entry(uint32(n + i)))
	}
	b.Run("find fresh", func(b *testing.B) {
		for i := range b.N {
			s.Find(fresh[i%len(fresh)])
		}
	})
	b.Run("find fresh map", func(b *testing.B) {
		for i := range b.N {
			_ = m[fresh[i%len(fresh)]]
		}
	})
}

// The first five bytes of a key may tell where it stands among others, and be those of all keys
// of a while.
func TestKeysOfOnePlaceAreSpreadOverATable(t *testing.T) {
	g := segment{slots: make([]slot, 1<<16)}
	seen := map[int]bool{}
	for n := range uint32(1000) {
		key := [16]byte(entry(n))
		copy(key[:5], "place")
		seen[g.slot(&key)] = true
	}
	if len(seen) < 950 {
		t.Errorf("1000 keys begin at %d of 65,536 slots", len(seen))
	}
}
