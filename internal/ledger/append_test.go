package ledger

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// hex is parameters as text; NULL is -.
func hex(args [][]byte) (all []string) {
	for _, a := range args {
		if a == nil {
			all = append(all, "-")
		} else {
			all = append(all, fmt.Sprintf("%x", a))
		}
	}
	return all
}

var (
	from = Tail{Seq: 2, Token: wire.UUID{1}, Next: 3}
	was  = fmt.Sprintf("%x", [16]byte{1})
	is   = fmt.Sprintf("%x", [16]byte{2})
	def  = int32(7)
	none = int32(0)
)

// The parameters of an append are those of AppendSQL, in its order. What is not said is NULL.
func TestParametersOfAnAppend(t *testing.T) {
	for name, c := range map[string]struct {
		row  Row
		want []string // from $7 on
	}{
		"what must be said": {Row{Kind: Batch, Epoch: -1}, []string{"62", "ffffffff", "0000000000000000", "-", "-", "-", "-", "-", "77", "-", "-", "-"}},
		"all of it": {
			Row{Kind: Operator, Epoch: 5, Window: 6, Keys: []byte{8}, Def: &def, Parts: &none, Info: "ann", Defs: []byte{9}, Writer: Person,
				Letters: InRow{N: 10, First: 11}, At: time.Date(2000, 1, 1, 0, 0, 0, 12000, time.UTC)},
			[]string{"6f", "00000005", "0000000000000006", "08", "00000007", "00000000", "616e6e", "09", "6f", "0000000a", "000000000000000b", "000000000000000c"},
		},
		"a settled letter": {Row{Kind: Letter, Letters: InRow{First: 11}}, []string{"6c", "00000000", "0000000000000000", "-", "-", "-", "-", "-", "77", "-", "000000000000000b", "-"}},
		"no letters":       {Row{Kind: Skip, Letters: InRow{First: 11}}, []string{"73", "00000000", "0000000000000000", "-", "-", "-", "-", "-", "77", "-", "-", "-"}},
	} {
		c.row.Token, c.row.Next = wire.UUID{2}, 4
		want := append([]string{"00000001", "0000000000000002", was, is, "0000000000000003", "0000000000000004"}, c.want...)
		if got := hex(Append(1, from, c.row)); !slices.Equal(got, want) {
			t.Errorf("%s:\n%v\nwant\n%v", name, got, want)
		}
	}
	r := Row{Kind: Batch, Token: wire.UUID{2}, Next: 4, Epoch: 5, Keys: []byte{8}, Defs: []byte{9}, Letters: InRow{N: 10, First: 11}}
	want := []string{"00000001", "0000000000000003", was, is, "0000000000000004", "00000005", "08", "0000000a", "09", "000000000000000b"}
	if got := hex(Shorten(1, from, wire.UUID{1}, r)); !slices.Equal(got, want) {
		t.Errorf("shortened:\n%v\nwant\n%v", got, want)
	}
}

func TestTimesComeBack(t *testing.T) {
	for _, at := range []time.Time{time.Date(1999, 12, 31, 23, 59, 59, 999999000, time.UTC), time.Date(2026, 11, 28, 1, 2, 3, 4000, time.UTC)} {
		if got := Time(Timestamp(at)); !got.Equal(at) {
			t.Errorf("%v came back as %v", at, got)
		}
	}
}

func TestTokensDiffer(t *testing.T) {
	if a, b := NewToken(), NewToken(); a == b || a == (wire.UUID{}) {
		t.Errorf("tokens %v and %v", a, b)
	}
}

func TestSaid(t *testing.T) {
	for want, c := range map[string]struct {
		info    string
		letters InRow
	}{
		"":                                       {"", InRow{First: 3}},
		"ann":                                    {"ann", InRow{}},
		"2 dead letters in a row, from offset 3": {"", InRow{2, 3}},
		"ann; 1 dead letters in a row, from offset 3": {"ann", InRow{1, 3}},
	} {
		if got := Said(c.info, c.letters); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Keys of the chain stand in its row, in groups of one definition; the others are shared.
func TestClaimsAreSplit(t *testing.T) {
	claim := func(key byte, def uint32, here bool) wire.Claim {
		return wire.Claim{Key: wire.Key{key}, Def: def, Print: uint32(key) + 1, Here: here}
	}
	row := func(key byte) string { return fmt.Sprintf("%x%08x", [16]byte{key}, key+1) }
	for name, c := range map[string]struct {
		claims     []wire.Claim
		shared     string
		keys, defs string
	}{
		"none":   {nil, "", "", ""},
		"shared": {[]wire.Claim{claim(1, 5, false), claim(2, 6, false)}, "1 2 ", "", ""},
		"chain":  {[]wire.Claim{claim(1, 5, true), claim(2, 5, true)}, "", row(1) + row(2), "0000000500000002"},
		"both": {
			[]wire.Claim{claim(1, 5, false), claim(2, 9, true), claim(3, 5, true), claim(4, 7, false), claim(5, 9, true)}, "1 4 ",
			row(3) + row(2) + row(5), "00000005000000010000000900000002",
		},
	} {
		shared, keys, defs := Split(c.claims)
		got := ""
		for _, s := range shared {
			got += fmt.Sprintf("%d ", s.Key[0])
		}
		if got != c.shared || fmt.Sprintf("%x", keys) != c.keys || fmt.Sprintf("%x", defs) != c.defs {
			t.Errorf("%s: shared %s, keys %x, definitions %x", name, got, keys, defs)
		}
	}
}
