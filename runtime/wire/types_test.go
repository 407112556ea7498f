package wire

import (
	"encoding"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

func TestParseDecimal(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0", "0"}, {"-0", "-0"}, {"1.50", "1.50"}, {"-0.001", "-0.001"},
		{"1e3", "1000"}, {"1E+3", "1000"}, {"1.5e0", "1.5"}, {"1.50e1", "15.0"}, {"-1.5e-1", "-0.15"}, {"12345e-2", "123.45"},
		{"12e-2", "0.12"}, {"12e-3", "0.012"}, {"0.001e2", "0.1"}, {"0.001e3", "1"}, {"0.0015e3", "1.5"}, {"0.001e5", "100"},
		{"0e9", "0"}, {"0.00e1", "0.0"}, {"0.00e-1", "0.000"}, {"-0e999999999", "-0"},
		{"", ""}, {"-", ""}, {"+1", ""}, {".5", ""}, {"5.", ""}, {"01", ""}, {"1e", ""}, {"1e+", ""}, {" 1", ""}, {"1 ", ""},
		{"0x1", ""}, {"1_000", ""}, {"NaN", ""}, {"Infinity", ""}, {"1.2.3", ""}, {"1e5e5", ""}, {"1e18446744073709551616", ""}, {"--1", ""}, {"１", ""},
		{strings.Repeat("9", 1001), ""}, {"0." + strings.Repeat("0", 1000), ""},
	} {
		d, err := ParseDecimal(c.in)
		if (err == nil) != (c.want != "") || err == nil && d.String() != c.want {
			t.Errorf("%.20s: got %v, %v, want %q", c.in, d, err, c.want)
		}
	}
	if (Decimal{}).String() != "0" {
		t.Error("the zero Decimal is not 0")
	}
}

func TestDecimalNormal(t *testing.T) {
	for in, want := range map[string]string{"0": "0", "-0": "0", "-0.00": "0", "100": "100", "1.500": "1.5", "1.000": "1", "-10.10": "-10.1"} {
		if got := MustDecimal(in).normal(); got != want {
			t.Errorf("%s: got %s", in, got)
		}
		if !MustDecimal(in).Equal(MustDecimal(want)) || MustDecimal(in).Equal(MustDecimal("7")) {
			t.Errorf("%s is not equal to %s alone", in, want)
		}
	}
}

func TestScanNumeric(t *testing.T) {
	for _, c := range []struct {
		digits string
		exp    int32
		want   string
	}{
		{"0", 0, "0"}, {"0", -2, "0.00"}, {"0", 5, "0"}, {"12", 2, "1200"}, {"12", -1, "1.2"}, {"-12", -2, "-0.12"}, {"-12", -4, "-0.0012"},
		{"1", 999, "1" + strings.Repeat("0", 999)}, {"1", 1000, ""}, {"1", -999, "0." + strings.Repeat("0", 998) + "1"}, {"1", -1000, ""},
	} {
		n, _ := new(big.Int).SetString(c.digits, 10)
		var d Decimal
		err := d.ScanNumeric(pgtype.Numeric{Int: n, Exp: c.exp, Valid: true})
		if (err == nil) != (c.want != "") || err == nil && d.String() != c.want {
			t.Errorf("%se%d: got %v, %v", c.digits, c.exp, d, err)
		}
	}
}

// The calendar is that of package time.
func TestDates(t *testing.T) {
	for day := Date(notation.FirstDay); day <= notation.LastDay; day += 13 {
		text := day.Time().Format(time.DateOnly)
		if got, err := ParseDate(text); err != nil || got != day || got.String() != text {
			t.Fatalf("%s: got %v, %v, want %d", text, got, err, day)
		}
	}
}

// The four texts of a type are one: what String says can be parsed, marshalled, read.
func TestTextForms(t *testing.T) {
	for _, c := range []struct {
		text  string
		value interface {
			encoding.TextUnmarshaler
			String() string
		}
	}{
		{"7d2a1f0e-8b7a-4c31-9d52-0a1b2c3d4e5f", new(UUID)},
		{"-12.50", new(Decimal)},
		{"2024-02-29", new(Date)}, {"0000-01-01", new(Date)}, {"9999-12-31", new(Date)},
		{"2024-02-29T12:00:00", new(LocalTime)}, {"1969-12-31T23:59:59.000001", new(LocalTime)}, {"0000-01-01T00:00:00.5", new(LocalTime)},
	} {
		if err := json.Unmarshal([]byte(`"`+c.text+`"`), c.value); err != nil || c.value.String() != c.text {
			t.Errorf("%s: read as %s, %v", c.text, c.value, err)
		}
		if got, err := json.Marshal(c.value); err != nil || string(got) != `"`+c.text+`"` {
			t.Errorf("%s: written as %s, %v", c.text, got, err)
		}
		if err := c.value.UnmarshalText([]byte("?")); err == nil || c.value.String() != c.text {
			t.Errorf("%s: after an error: %s, %v", c.text, c.value, err)
		}
	}
	if got := (Key{0xab, 15: 1}).String(); got != "ab000000000000000000000000000001" {
		t.Error(got)
	}
}

// What AppendX writes is what encoding/json reads as the same value.
func TestAppendJSON(t *testing.T) {
	every := make([]rune, 0x3000)
	for i := range every {
		every[i] = rune(i)
	}
	for _, s := range []string{"", "plain", `"\`, "\x00\x1f\x7f", "é😀\u2028", string(every)} {
		var got string
		if err := json.Unmarshal(AppendString(nil, s), &got); err != nil || got != s {
			t.Errorf("%q: read as %q, %v", s, got, err)
		}
	}
	at := time.Date(2024, 2, 29, 13, 0, 0, 120000999, time.FixedZone("", 3600))
	for want, got := range map[string][]byte{
		`"7d2a1f0e-0000-0000-0000-000000000000"`: AppendUUID(nil, UUID{0x7d, 0x2a, 0x1f, 0x0e}),
		`true`:                                   AppendBool(nil, true), `-9`: AppendInt(nil, -9), `1.5`: AppendFloat(nil, 1.5), `1e+300`: AppendFloat(nil, 1e300),
		`1.50`: AppendDecimal(nil, MustDecimal("1.50")), `0`: AppendDecimal(nil, Decimal{}),
		`"2024-02-29T12:00:00.12Z"`: AppendTime(nil, at), `"2024-02-29T12:00:00Z"`: AppendTime(nil, at.Truncate(time.Second)),
		`"1970-01-01T00:00:00.000001"`: AppendLocalTime(nil, 1), `"1970-01-02"`: AppendDate(nil, 1),
		`"AP8="`: AppendBytes(nil, []byte{0, 255}), `{"a": 1}`: AppendRaw(nil, []byte(`{"a": 1}`)), `null`: AppendNull(nil),
		`x"y"`: AppendString([]byte("x"), "y"),
	} {
		if string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
