package notation

import (
	"math/big"
	"strings"
	"testing"
)

// FuzzUnscaled: a number is its integer divided by a power of ten.
func FuzzUnscaled(f *testing.F) {
	for _, in := range []string{"\x04\xd8", "\xff", "\x00", "\x80", "\x00\x80", "\xff\x80", "\x7f\xff\xff\xff\xff\xff\xff\xff", "\x80\x00\x00\x00\x00\x00\x00\x00", "\xff\x00\x00\x00\x00\x00\x00\x00\x00", "", strings.Repeat("\x7f", 417)} {
		f.Add([]byte(in), 2)
		f.Add([]byte(in), -3)
		f.Add([]byte(in), 20)
	}
	f.Fuzz(func(t *testing.T, data []byte, scale int) {
		plain, grown, reason := Unscaled(data, int64(scale), []byte("before"))
		if !strings.HasPrefix(string(grown), "before") {
			t.Fatalf("the arena is %q", grown)
		}
		if reason != "" {
			if len(data) > 0 && len(data) < 100 && scale > -500 && scale < 500 {
				t.Fatalf("%x with scale %d: %s", data, scale, reason)
			}
			return
		}
		want := new(big.Int).SetBytes(data)
		if data[0] >= 0x80 {
			want.Sub(want, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
		ratio := new(big.Rat).SetFrac(want, power)
		if scale < 0 {
			ratio.SetInt(want.Mul(want, power))
		}
		got, ok := new(big.Rat).SetString(string(plain))
		again, _, bad := PlainDecimal(plain, nil)
		_, fraction, _ := strings.Cut(string(plain), ".")
		if !ok || got.Cmp(ratio) != 0 || bad != "" || string(again) != string(plain) || len(fraction) != max(scale, 0) {
			t.Fatalf("%x with scale %d is %q (%s), want %s", data, scale, plain, bad, ratio)
		}
	})
}
