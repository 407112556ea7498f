package wire_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

const space = "0123456789abcdef"

// made is the key of what add adds.
func made(t testing.TB, add func(*wire.KeyBuilder)) wire.Key {
	t.Helper()
	var b wire.KeyBuilder
	b.Start(space)
	add(&b)
	k, err := b.Sum("E")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// version7 is a UUID made at that millisecond of 1970.
func version7(ms uint64, random byte) (u wire.UUID) {
	binary.BigEndian.PutUint64(u[:], ms<<16)
	u[6], u[8], u[15] = 0x70, 0x80, random
	return u
}

func headerOf(v string) *wire.Message {
	return &wire.Message{Headers: []wire.Header{{Name: "id", Value: []byte(v)}}}
}

// Such keys stand side by side in an index in the order in which they were made, a quarter of
// a second or 256 numbers together.
func TestKeysOfOrderedPartsStandInTheirOrder(t *testing.T) {
	const second = 1_700_000_000
	for name, add := range map[string]func(b *wire.KeyBuilder, i int){
		"uuid":           func(b *wire.KeyBuilder, i int) { b.UUID("id", version7(second*1000+uint64(256*i), 1)) },
		"text of a uuid": func(b *wire.KeyBuilder, i int) { b.Text("id", version7(second*1000+uint64(256*i), 1).String()) },
		"header, a uuid": func(b *wire.KeyBuilder, i int) {
			b.Header(headerOf(version7(second*1000+uint64(256*i), 1).String()), "id")
		},
		"int64":            func(b *wire.KeyBuilder, i int) { b.Int64("id", int64(1_000_000+256*i)) },
		"int32":            func(b *wire.KeyBuilder, i int) { b.Int32("id", int32(1_000_000+256*i)) },
		"header, a number": func(b *wire.KeyBuilder, i int) { b.Header(headerOf(strconv.Itoa(1_000_000+256*i)), "id") },
		"time":             func(b *wire.KeyBuilder, i int) { b.Time("at", time.UnixMicro(second*1_000_000+int64(i)<<18)) },
		"behind a text":    func(b *wire.KeyBuilder, i int) { b.Text("who", "k"+strconv.Itoa(i)); b.Int64("id", int64(256*i)) },
		"time over number": func(b *wire.KeyBuilder, i int) {
			b.Int32("n", int32(-256*i))
			b.Time("at", time.UnixMicro(int64(i)<<18))
		},
		"first of two uuid": func(b *wire.KeyBuilder, i int) {
			b.UUID("a", version7(uint64(256*i), 1))
			b.UUID("b", version7(1<<40-uint64(256*i), 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var keys []wire.Key
			for i := range 300 {
				keys = append(keys, made(t, func(b *wire.KeyBuilder) { add(b, i) }))
			}
			if !slices.IsSortedFunc(keys, func(a, b wire.Key) int { return bytes.Compare(a[:], b[:]) }) {
				t.Error("they stand in another order")
			}
		})
	}
}

// A place is no part of what makes two keys different: the hash behind it is.
func TestKeysOfOnePlaceDiffer(t *testing.T) {
	seen := map[[11]byte]bool{}
	for i := range 256 {
		k := made(t, func(b *wire.KeyBuilder) { b.Int64("id", int64(i)) })
		if tail := [11]byte(k[5:]); seen[tail] {
			t.Fatal("two keys share their hash")
		} else {
			seen[tail] = true
		}
		if first := [5]byte(k[:5]); first != [5]byte{} {
			t.Fatalf("key %d begins with %x, want 256 numbers at one place", i, first)
		}
	}
}

// Without an order all 16 bytes are of the hash, whatever the text looks like.
func TestKeysWithoutAnOrderHaveNoPlace(t *testing.T) {
	for name, add := range map[string]func(b *wire.KeyBuilder, v string){
		"a random uuid":         func(b *wire.KeyBuilder, v string) { b.Text("id", "0190aaaa-bbbb-4000-8000-00000000000"+v) },
		"no uuid":               func(b *wire.KeyBuilder, v string) { b.Text("id", "0190aaaa-bbbb-7000-8000-0000000000x"+v) },
		"more than a number":    func(b *wire.KeyBuilder, v string) { b.Text("id", "100"+v+"-1") },
		"longer than a number":  func(b *wire.KeyBuilder, v string) { b.Text("id", "100000000000000000"+v) },
		"a number with a sign":  func(b *wire.KeyBuilder, v string) { b.Text("id", "-100"+v) },
		"bytes that look alike": func(b *wire.KeyBuilder, v string) { b.Bytes("id", []byte("100"+v)) },
	} {
		t.Run(name, func(t *testing.T) {
			seen := map[[5]byte]bool{}
			for i := range 10 {
				k := made(t, func(b *wire.KeyBuilder) { add(b, strconv.Itoa(i)) })
				seen[[5]byte(k[:5])] = true
			}
			if len(seen) != 10 {
				t.Errorf("10 keys have %d places", len(seen))
			}
		})
	}
}
