package oracle

import (
	"strings"
	"testing"
)

func TestDecimalKeepsEveryDigit(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "-0.00": "0.00", "1": "1", "-12.340": "-12.340", "0.001": "0.001",
		"1e3": "1000", "1.5E+3": "1500", "1.50e1": "15.0", "100e-1": "10.0", "5e-3": "0.005", "0e5": "0", "0.000e3": "0", "0.0010e3": "1.0",
		"1e999":                  "1" + strings.Repeat("0", 999),
		"1e-999":                 "0." + strings.Repeat("0", 998) + "1",
		"0e99999999999999999999": "0",
	} {
		d, err := parseDecimal(text, maxDigits)
		if err != nil || d.String() != want {
			t.Errorf("%s: %s %v, want %s", text, d, err, want)
		}
	}
	for _, text := range []string{
		"", "-", "+1", "01", ".5", "5.", "1e", "NaN", "Infinity", " 1", "1 ", "0x1", "1_000", "1,5",
		"1e1000", "1e-1000", "1e99999999999999999999", "1e-99999999999999999999", "0e-5000", strings.Repeat("9", 1001),
	} {
		if d, err := parseDecimal(text, maxDigits); err == nil {
			t.Errorf("%q was accepted as %s", text, d)
		}
	}
}

func TestDecimalFitsItsColumnOrIsRefused(t *testing.T) {
	for _, c := range []struct {
		text             string
		precision, scale int
		want             string // "" = refused
	}{
		{"1", 12, 2, "1.00"}, {"1.5", 12, 2, "1.50"}, {"1.230", 12, 2, "1.23"}, {"1.234", 12, 2, ""}, {"-0", 12, 2, "0.00"},
		{"9999999999.99", 12, 2, "9999999999.99"}, {"10000000000", 12, 2, ""}, {"1e9", 12, 2, "1000000000.00"}, {"1e10", 12, 2, ""},
		{"0.05", 2, 2, "0.05"}, {"1", 2, 2, ""}, {"0", 2, 2, "0.00"}, {"120", 3, 0, "120"}, {"1200", 3, 0, ""}, {"-99.9", 3, 1, "-99.9"},
	} {
		d, err := parseDecimal(c.text, maxDigits)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if fitted, ok := d.fit(c.precision, c.scale); ok {
			got = fitted.String()
		}
		if got != c.want {
			t.Errorf("%s as numeric(%d,%d): %q, want %q", c.text, c.precision, c.scale, got, c.want)
		}
	}
}

func TestDecimalOrder(t *testing.T) {
	rising := []string{"-10", "-9.5", "-0.1", "0.00", "0.05", "0.5", "9.99", "10", "1e2"}
	for i, a := range rising {
		for j, b := range rising {
			x, _ := parseDecimal(a, maxDigits)
			y, _ := parseDecimal(b, maxDigits)
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := x.compare(y); got != want {
				t.Errorf("compare(%s, %s) = %d", a, b, got)
			}
		}
	}
}

func TestIntegers(t *testing.T) {
	for _, text := range []string{"0", "-0", "7", "-2147483648", "2147483647"} {
		if _, err := parseInteger(text, 32); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "-", "+1", "01", "-01", "1.0", "1e2", " 1", "2147483648", "-2147483649", "9223372036854775808", "١"} {
		if n, err := parseInteger(text, 32); err == nil {
			t.Errorf("%q was accepted as %d", text, n)
		}
	}
	if n, err := parseInteger("9007199254740993", 64); n != 9007199254740993 || err != nil {
		t.Error(n, err)
	}
}
