package notation

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestIntegers(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "7": "7", "-12": "-12", "9223372036854775807": "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
		"9223372036854775808": OutOfRange, "-9223372036854775809": OutOfRange, "18446744073709551617": OutOfRange, "99999999999999999999": OutOfRange,
		"": NotInteger, "-": NotInteger, "+1": NotInteger, "1.0": NotInteger, "1e3": NotInteger, "1E3": NotInteger, "1 ": NotInteger, " 1": NotInteger,
		"1x": NotInteger, "x": NotInteger, "--1": NotInteger, "01": "has a leading zero", "-00": "has a leading zero",
	} {
		v, reason := Int([]byte(text), math.MinInt64, math.MaxInt64)
		got := reason
		if reason == "" {
			got = fmt.Sprint(v)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, fits := range map[string]bool{"-5": true, "-6": false, "9": true, "10": false, "0": true} {
		if _, reason := Int([]byte(text), -5, 9); (reason == "") != fits || !fits && reason != OutOfRange {
			t.Errorf("%s from -5 to 9: %q", text, reason)
		}
	}
	if v, end, reason := ScanInt([]byte("a-42,7"), 1, -50, 50); v != -42 || end != 4 || reason != "" {
		t.Errorf("within a text: %d up to %d, %q", v, end, reason)
	}
}

// numbers are texts, and where the number ends and its exponent begins; what is none breaks at a
// place, which is told as a negative end.
var numbers = map[string][2]int{
	"0": {1, -1}, "-0": {2, -1}, "10": {2, -1}, "1.5": {3, -1}, "-0.50": {5, -1}, "1e5": {3, 1}, "1E+5": {4, 1}, "2.5e-07": {7, 3}, "7,": {1, -1}, "7e1]": {3, 1},
	"": {-1, -1}, "-": {-2, -1}, "x": {-1, -1}, ".5": {-1, -1}, "01": {-3, -1}, "1.": {-3, -1}, "1.e5": {-3, -1}, "1e": {-3, -1}, "1e+": {-4, -1}, "+1": {-1, -1},
}

func TestWhereNumbersEnd(t *testing.T) {
	for text, want := range numbers {
		for _, before := range []string{"", "[1,"} {
			end, exp := ScanNumber([]byte(before+text), len(before))
			shifted := want
			for i := range shifted {
				if shifted[i] >= 0 {
					shifted[i] += len(before)
				}
			}
			if want[0] < 0 {
				shifted[0] = want[0] - len(before)
			}
			if [2]int{end, exp} != shifted {
				t.Errorf("%q after %q: ends at %d, exponent at %d, want %v", text, before, end, exp, shifted)
			}
		}
	}
}

func TestFloats(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0.0": "-0", "0e5": "0", "1.5": "1.5", "-2e3": "-2000", "1e308": "1e+308", "5e-324": "5e-324",
		"1e309": OutOfRange, "-1e309": OutOfRange, "1e-400": OutOfRange, "0.0001e-400": OutOfRange,
		"": NotNumber, "NaN": NotNumber, "1 ": NotNumber, "0x1": NotNumber, "1_0": NotNumber, ".5": NotNumber,
	} {
		v, reason := FloatText([]byte(text))
		got := reason
		if reason == "" {
			got = fmt.Sprint(v)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A decimal has no exponent, and as many digits as its text says; the limit counts all of them.
func TestPlainDecimals(t *testing.T) {
	const not = "must be a decimal number"
	nines := strings.Repeat("9", MaxDigits)
	for text, want := range map[string]string{
		"0": "0", "-1.50": "-1.50", "007": not, "": not, "1.": not, "x": not, "1e": not, "1 ": not,
		"1e3": "1000", "1.5e3": "1500", "-1.5e1": "-15", "1.23e1": "12.3", "1e0": "1", "1.0e0": "1.0", "12e-1": "1.2", "1e-3": "0.001", "-12.5e-2": "-0.125",
		"10e-1": "1.0", "0.001e3": "1", "0.0012e2": "0.12", "0.0012e3": "1.2", "100e-2": "1.00", "0e5": "0", "0e-2": "0.00", "0.00e1": "0.0", "-0e3": "-0", "0.0e9": "0",
		nines: nines, "0." + nines: TooManyDigits, "-" + nines: "-" + nines, nines[1:] + ".9": nines[1:] + ".9", nines + "9": TooManyDigits,
		nines + "e0": nines, nines + "e1": TooManyDigits, "1e999": "1" + strings.Repeat("0", 999), "1e1000": TooManyDigits, "1e-999": "0." + strings.Repeat("0", 998) + "1",
		"1e-1000": TooManyDigits, "1e99999999999": TooManyDigits, "1e-99999999999": TooManyDigits, "0e99999999999": "0",
	} {
		arena := []byte("before")
		plain, grown, reason := PlainDecimal([]byte(text), arena)
		got := reason
		if reason == "" {
			got = string(plain)
		}
		if got != want {
			t.Errorf("%.20s: %.40s, want %.40s", text, got, want)
		}
		if !strings.HasPrefix(string(grown), "before") || reason != "" && string(grown) != "before" {
			t.Errorf("%.20s: %.40s in the arena", text, grown)
		}
	}
}

func TestTextsOfOtherTypes(t *testing.T) {
	for text, want := range map[string]string{"true": "true", "false": "false", "": NotBool, "True": NotBool, "1": NotBool} {
		v, reason := Bool([]byte(text))
		if got := reason + fmt.Sprint(v); reason == "" && fmt.Sprint(v) != want || reason != "" && reason != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	const refused = "must be one of the texts of its enum"
	for text, want := range map[string]string{"a": "0", "c": "2", "": refused, "A": refused} {
		i, reason := Enum([]byte(text), []string{"a", "b", "c"})
		if reason == "" && fmt.Sprint(i) != want || reason != "" && reason != want {
			t.Errorf("%q: %d, %q", text, i, reason)
		}
	}
}

// Only the form of 36 characters is a UUID: each of them counts.
func TestUUIDs(t *testing.T) {
	const good = "01234567-89ab-cdef-ABCD-EF0123456789"
	want := [16]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89}
	if u, reason := UUID([]byte(good)); u != want || reason != "" {
		t.Errorf("%x, %q", u, reason)
	}
	for _, text := range []string{"", good[1:], good + "0", strings.ReplaceAll(good, "-", ""), "{" + good[2:] + "}"} {
		if u, reason := UUID([]byte(text)); u != [16]byte{} || reason == "" {
			t.Errorf("%q: %x, %q", text, u, reason)
		}
	}
	for i := range good {
		for _, c := range []byte("g-/:@` \xff") {
			text := []byte(good)
			if text[i] == c {
				continue
			}
			text[i] = c
			if u, reason := UUID(text); u != [16]byte{} || reason == "" {
				t.Errorf("%q: %x, %q", text, u, reason)
			}
		}
	}
}
