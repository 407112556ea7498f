package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"time"
)

const space = "0123456789abcdef"

// The hash of a key is stored: it must never change.
func TestKeyIsStable(t *testing.T) {
	var k KeyBuilder
	for range 2 { // the builder is reused
		k.Start(space)
		k.Header(&Message{Headers: []Header{{"Idempotency-Key", []byte("a-1")}}}, "Idempotency-Key")
		k.Text("a", "a-1")
		k.UUID("b", UUID{})
		k.Int32("c", -1)
		k.Int64("d", 1<<40)
		k.Decimal("e", MustDecimal("-1.50"))
		k.Time("f", time.Unix(1, 2000))
		k.Date("g", 19782)
		k.Bytes("h", []byte{0})
		got, err := k.Sum("E")
		if want := "0000000003ce13404495c3185fcfb87c"; err != nil || got.String() != want {
			t.Errorf("got %v, %v, want %s", got, err, want)
		}
	}
}

// Parts that could be taken for one another give different keys; equal values equal ones.
func TestKeysDiffer(t *testing.T) {
	type parts = func(k *KeyBuilder)
	header := func(v string) parts {
		return func(k *KeyBuilder) { k.Header(&Message{Headers: []Header{{"h", []byte(v)}}}, "h") }
	}
	different := []parts{
		func(k *KeyBuilder) {},
		func(k *KeyBuilder) { k.Text("", "a"); k.Text("", "1-2") },
		func(k *KeyBuilder) { k.Text("", "a-1"); k.Text("", "2") },
		func(k *KeyBuilder) { k.Text("", "a-1-2") },
		func(k *KeyBuilder) { k.Text("", "1") },
		header("1"),
		header("a"),
		header("A"),
		header(" "),
		func(k *KeyBuilder) { k.Bytes("", []byte("1")) },
		func(k *KeyBuilder) { k.Int64("", 1) },
		func(k *KeyBuilder) { k.Int64("", -1) },
		func(k *KeyBuilder) { k.Date("", 1) },
		func(k *KeyBuilder) { k.Time("", time.UnixMicro(1)) },
		func(k *KeyBuilder) { k.Decimal("", MustDecimal("1")) },
		func(k *KeyBuilder) { k.Decimal("", MustDecimal("10")) },
		func(k *KeyBuilder) { k.UUID("", UUID{}) },
		func(k *KeyBuilder) { k.UUID("", UUID{}); k.UUID("", UUID{}) },
		func(k *KeyBuilder) { k.Text("", string(make([]byte, 300))) },
	}
	var k KeyBuilder
	sum := func(space string, p parts) Key {
		k.Start(space)
		p(&k)
		key, err := k.Sum("E")
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	seen := map[Key]int{}
	for i, p := range different {
		for j, space := range []string{space, "1123456789abcdef"} {
			key := sum(space, p)
			if other, twice := seen[key]; twice {
				t.Errorf("parts %d and %d have one key", other, i)
			}
			seen[key] = i*2 + j
		}
	}
	for i, same := range [][2]parts{
		{func(k *KeyBuilder) { k.Int32("x", -5) }, func(k *KeyBuilder) { k.Int64("y", -5) }},
		{func(k *KeyBuilder) { k.Decimal("", MustDecimal("1.0")) }, func(k *KeyBuilder) { k.Decimal("", MustDecimal("1")) }},
		{func(k *KeyBuilder) { k.Decimal("", MustDecimal("-0e3")) }, func(k *KeyBuilder) { k.Decimal("", Decimal{}) }},
		{func(k *KeyBuilder) { k.Time("", time.Unix(1, 0).UTC()) }, func(k *KeyBuilder) { k.Time("", time.Unix(1, 999).In(time.FixedZone("", 60))) }},
	} {
		if sum(space, same[0]) != sum(space, same[1]) {
			t.Errorf("pair %d: equal values have two keys", i)
		}
	}
}

// Keys of parts that read alike when they are joined, as by hyphens, are not alike, and no
// part can hold what ends another.
func TestKeysThatCollideWhenJoinedByHyphens(t *testing.T) {
	var k KeyBuilder
	sum := func(parts ...string) Key {
		k.Start(space)
		for _, p := range parts {
			k.Header(&Message{Headers: []Header{{"h", []byte(p)}}}, "h")
		}
		key, err := k.Sum("E")
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	for _, alike := range [][][]string{
		{{"a-1", "2"}, {"a", "1-2"}, {"a-1-2"}, {"a", "1", "2"}},
		{{"a\x01", "b"}, {"a", "\x01b"}, {"a\x01b"}},
		{{"tenant", "1", "11"}, {"tenant", "11", "1"}, {"tenant1", "11"}},
	} {
		seen := map[Key][]string{}
		for _, parts := range alike {
			if other, twice := seen[sum(parts...)]; twice {
				t.Errorf("%q and %q have one key", other, parts)
			}
			seen[sum(parts...)] = parts
		}
	}
}

// A part that is missing, null or empty is an error, the first one, never a key.
func TestNoKey(t *testing.T) {
	one := []byte("1")
	const has = `the record has "one", "null", "empty", "twice", "bad", "twice"`
	for _, c := range []struct {
		name string
		add  func(k *KeyBuilder, m *Message)
		want string
	}{
		{"missing", func(k *KeyBuilder, m *Message) { k.Header(m, "none") }, "key: E: header none is missing; " + has},
		{"case", func(k *KeyBuilder, m *Message) { k.Header(m, "ONE") }, "key: E: header ONE is missing; " + has},
		{"null", func(k *KeyBuilder, m *Message) { k.Header(m, "null") }, "key: E: header null must not be null"},
		{"empty", func(k *KeyBuilder, m *Message) { k.Header(m, "empty") }, "key: E: header empty is empty, but part of the key"},
		{"twice", func(k *KeyBuilder, m *Message) { k.Header(m, "twice") }, "key: E: header twice occurs 2 times"},
		{"no text", func(k *KeyBuilder, m *Message) { k.Header(m, "bad") }, "key: E: header bad is not valid UTF-8"},
		{"text", func(k *KeyBuilder, m *Message) { k.Text("a.b", "") }, "key: E: a.b is empty, but part of the key"},
		{"bytes", func(k *KeyBuilder, m *Message) { k.Bytes("a", nil) }, "key: E: a is empty, but part of the key"},
		{"first", func(k *KeyBuilder, m *Message) { k.Text("a", ""); k.Bytes("b", nil); k.Header(m, "none") }, "key: E: a is empty, but part of the key"},
	} {
		m := &Message{Headers: []Header{{"one", one}, {"null", nil}, {"empty", []byte{}}, {"twice", one}, {"bad", []byte("\xff")}, {"twice", one}}}
		var k KeyBuilder
		k.Start(space)
		c.add(&k, m)
		k.Header(m, "one")
		key, err := k.Sum("E")
		if text(err) != c.want || key != (Key{}) {
			t.Errorf("%s: got %v, %v", c.name, key, err)
		}
		k.Start(space)
		k.Header(m, "one")
		if _, err := k.Sum("E"); err != nil {
			t.Errorf("%s: the error outlived Start: %v", c.name, err)
		}
	}
}

// FuzzKeyParts: two different lists of parts never have the same bytes. in is read as
// two lists.
func FuzzKeyParts(f *testing.F) {
	f.Add([]byte("\x00\x01a\x00\x031-2"), []byte("\x00\x03a-1\x00\x012"))
	f.Add([]byte("\x02\x08abcdefgh"), []byte("\x01\x08abcdefgh"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		listA, bytesA := partList(a)
		listB, bytesB := partList(b)
		if (listA == listB) != bytes.Equal(bytesA, bytesB) {
			t.Fatalf("%s and %s: %x and %x", listA, listB, bytesA, bytesB)
		}
	})
}

// partList makes parts of fuzzed bytes, and the same list as Go writes it.
func partList(in []byte) (list string, encoded []byte) {
	var k KeyBuilder
	k.Start(space)
	for len(in) >= 2 {
		kind, n := in[0]%7, min(int(in[1]), len(in)-2)
		v := in[2 : 2+n]
		in = in[2+n:]
		var number [8]byte
		copy(number[:], v)
		i := int64(binary.LittleEndian.Uint64(number[:]))
		switch kind {
		case 0:
			k.Text("", string(v))
			list += fmt.Sprintf("text %q;", v)
		case 1:
			k.Bytes("", v)
			list += fmt.Sprintf("bytes %q;", v)
		case 2:
			k.Int64("", i)
			list += fmt.Sprintf("int %d;", i)
		case 3:
			k.Date("", Date(i))
			list += fmt.Sprintf("date %d;", Date(i))
		case 4:
			k.UUID("", UUID{0: number[0], 15: number[1]})
			list += fmt.Sprintf("uuid %x;", number[:2])
		case 5:
			d := MustDecimal(fmt.Sprintf("%de%d", i, len(v)%5-2))
			k.Decimal("", d)
			list += "decimal " + rational(d.String()) + ";"
		case 6:
			k.Time("", time.UnixMicro(i))
			list += fmt.Sprintf("time %d;", i)
		}
	}
	return list, k.parts
}
