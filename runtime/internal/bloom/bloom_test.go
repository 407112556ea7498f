package bloom_test

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/idemgen/idemgen/runtime/internal/bloom"
)

// key is the n-th key of a series.
func key(n uint64) [16]byte {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, n))
	return [16]byte(sum[:16])
}

func TestFilterDeniesNoneOfItsKeys(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 63, 1000, 50_000} {
		f := bloom.New(int64(n))
		for i := range n {
			f.Add(key(i))
		}
		for i := range n {
			if !f.Has(key(i)) {
				t.Fatalf("of %d keys, key %d is denied", n, i)
			}
		}
	}
}

// placed is the n-th key of a series whose first five bytes tell where it stands.
func placed(n uint64) [16]byte {
	k := key(n)
	binary.BigEndian.PutUint32(k[1:], uint32(n/1000))
	k[0] = 0
	return k
}

func TestFilterTakesFewOtherKeysForItsOwn(t *testing.T) {
	for name, key := range map[string]func(uint64) [16]byte{"hashes": key, "with a place": placed} {
		t.Run(name, func(t *testing.T) {
			const n, asked = 100_000, 1_000_000
			f := bloom.New(n)
			for i := range uint64(n) {
				f.Add(key(i))
			}
			wrong := 0
			for i := range uint64(asked) {
				if f.Has(key(n + i)) {
					wrong++
				}
			}
			if wrong > asked/10_000 {
				t.Errorf("%d of %d foreign keys pass, want one in 15,000 or so", wrong, asked)
			}
		})
	}
}

func TestOverfullFilterStaysRight(t *testing.T) {
	f := bloom.New(1)
	for i := range uint64(1000) {
		f.Add(key(i))
	}
	for i := range uint64(1000) {
		if !f.Has(key(i)) {
			t.Fatalf("key %d is denied", i)
		}
	}
}

func FuzzFilterDeniesNoneOfItsKeys(f *testing.F) {
	f.Add([]byte("0123456789abcdef0000000000000000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		filter := bloom.New(int64(len(b) / 16))
		for i := 0; i+16 <= len(b); i += 16 {
			filter.Add([16]byte(b[i:]))
		}
		for i := 0; i+16 <= len(b); i += 16 {
			if !filter.Has([16]byte(b[i:])) {
				t.Fatalf("key %x is denied", b[i:i+16])
			}
		}
	})
}

func BenchmarkHas(b *testing.B) {
	f := bloom.New(1_000_000)
	for i := range uint64(1_000_000) {
		f.Add(key(i))
	}
	k := key(2_000_000)
	for b.Loop() {
		binary.LittleEndian.PutUint64(k[:], binary.LittleEndian.Uint64(k[:])*0x9E3779B97F4A7C15+1)
		f.Has(k)
	}
}
