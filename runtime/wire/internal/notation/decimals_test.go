package notation

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// An unscaled integer in two's complement is the number that package big makes of it, whatever its
// length, its sign and where its point is.
func TestUnscaledIntegersAreDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(data []byte, scale int64) {
		t.Helper()
		n := new(big.Int).SetBytes(data)
		if data[0]&0x80 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(scale, -scale)), nil)
		want := new(big.Int).Mul(n, power).String()
		if scale > 0 {
			want = new(big.Rat).SetFrac(n, power).FloatString(int(scale))
		}
		before := "before"
		got, grown, reason := Unscaled(data, scale, []byte(before))
		if string(got) != want || string(grown) != before+want || reason != "" {
			t.Errorf("%x with scale %d: %s, %s, want %s", data, scale, got, reason, want)
		}
	}
	for length := 1; length < 24; length++ {
		for range 20 {
			data := make([]byte, length)
			for i := range data {
				data[i] = byte(r.Uint32())
			}
			check(data, r.Int64N(40)-15)
		}
	}
	for _, data := range [][]byte{{0}, {1}, {0x7f}, {0x80}, {0xff}, {0, 0, 0, 0, 0, 0, 0, 0, 0}, {0x80, 0, 0, 0, 0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}} {
		for _, scale := range []int64{0, 1, 3, 20, -1, -3} {
			check(data, scale)
		}
	}
	check([]byte{1}, MaxDigits-1)
	check([]byte{1}, 1-MaxDigits)
	check([]byte{0}, -MaxDigits)
	for name, test := range map[string]struct {
		data  []byte
		scale int64
		want  string
	}{
		"no bytes": {nil, 0, "has no digits: the integer has no bytes"}, "many bytes": {make([]byte, maxUnscaled+1), 0, TooManyDigits},
		"many digits after the point": {[]byte{1}, MaxDigits, TooManyDigits}, "many zeros": {[]byte{1}, -MaxDigits, TooManyDigits},
		"a large scale": {[]byte{0}, MaxDigits + 1, TooManyDigits}, "a low scale": {[]byte{0}, -MaxDigits - 1, TooManyDigits},
	} {
		if got, grown, reason := Unscaled(test.data, test.scale, []byte("a")); reason != test.want || string(grown) != "a" {
			t.Errorf("%s: %s, %q, want %s", name, got, reason, test.want)
		}
	}
	if got, _, reason := Unscaled(make([]byte, maxUnscaled), 0, nil); string(got) != "0" || reason != "" {
		t.Errorf("zero in %d bytes: %s, %s", maxUnscaled, got, reason)
	}
}

// A part that is no number, or that another character ends, makes no date, time or array.
func TestPartsThatAreNoNumbers(t *testing.T) {
	for i := range "2026-08-20" {
		text := []byte("2026-08-20")
		if text[i] = 'x'; strings.Contains("0123456789", "2026-08-20"[i:i+1]) || i == 4 || i == 7 {
			if days, reason := Date(text); reason != NotDate {
				t.Errorf("%s is day %d", text, days)
			}
		}
	}
	for _, text := range []string{"[2026,8,20}", "[2026,8,20,", "[2026,8,20 "} {
		if _, reason := DateArray([]byte(text)); reason == "" {
			t.Errorf("%s is a date", text)
		}
	}
	for _, text := range []string{"[\t2026,8,20]", "[2026\r,8,20]", "[2026,\n8,20]", "[2026,8,20 ]"} {
		if days, reason := DateArray([]byte(text)); reason != "" || days != 20685 {
			t.Errorf("%q is day %d, %s", text, days, reason)
		}
	}
	for fraction, want := range map[string]struct {
		n       int64
		cut, ok bool
	}{
		"": {0, false, true}, "1": {100_000, false, true}, "123456": {123_456, false, true}, "1234560": {123_456, false, true},
		"1234561": {123_456, true, true}, "12345610": {123_456, true, true}, "0000001": {0, true, true}, "12x": {}, "1234567x": {},
	} {
		n, cut, ok := sixDigits([]byte(fraction))
		if n != want.n || cut != want.cut || ok != want.ok {
			t.Errorf("%q: %d, %t, %t", fraction, n, cut, ok)
		}
	}
}
