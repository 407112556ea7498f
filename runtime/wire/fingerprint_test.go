package wire

import (
	"fmt"
	"testing"
	"time"
)

// Every kind counts, with its name; an absent optional value does not.
func TestFingerprint(t *testing.T) {
	type content = func(f *Fingerprint)
	different := []content{
		func(f *Fingerprint) {},
		func(f *Fingerprint) { f.Text("a", "x") },
		func(f *Fingerprint) { f.Text("b", "x") },
		func(f *Fingerprint) { f.Text("a", "") },
		func(f *Fingerprint) { f.Text("a", "x"); f.Text("b", "") },
		func(f *Fingerprint) { f.UUID("a", UUID{}) },
		func(f *Fingerprint) { f.UUID("a", UUID{1}) },
		func(f *Fingerprint) { f.Bool("a", false) },
		func(f *Fingerprint) { f.Bool("a", true) },
		func(f *Fingerprint) { f.Int32("a", 1) },
		func(f *Fingerprint) { f.Int32("a", 2) },
		func(f *Fingerprint) { f.Float64("a", 1) },
		func(f *Fingerprint) { f.Float64("a", 2) },
		func(f *Fingerprint) { f.Decimal("a", MustDecimal("1")) },
		func(f *Fingerprint) { f.Decimal("a", MustDecimal("1.01")) },
		func(f *Fingerprint) { f.Time("a", time.Unix(1, 0)) },
		func(f *Fingerprint) { f.Time("a", time.Unix(2, 0)) },
		func(f *Fingerprint) { f.LocalTime("a", 1) },
		func(f *Fingerprint) { f.LocalTime("a", 2) },
		func(f *Fingerprint) { f.Date("a", 1) },
		func(f *Fingerprint) { f.Date("a", 2) },
		func(f *Fingerprint) { f.Bytes("a", nil) },
		func(f *Fingerprint) { f.Bytes("a", []byte("x")) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`"x"`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`"x "`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`"\" "`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`"\""`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`{"b":[1,2]}`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`{"b":[2,1]}`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`{"b":1,"c":2}`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`{"b":2,"c":1}`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`{"b":{"c":"d"}}`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`{"b":"c","d":{}}`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`{}`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`[]`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`null`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`false`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`0`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`"0"`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`10`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`-10`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`1.01`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`[1,[2]]`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`[[1,2]]`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`"\u00e9"`)) },
		func(f *Fingerprint) { f.JSONValue("a", []byte(`"e\u0301"`)) },
	}
	var f Fingerprint
	sum := func(c content) uint32 {
		f.Start()
		c(&f)
		return f.Sum()
	}
	seen := map[uint32]int{}
	for i, c := range different {
		if other, twice := seen[sum(c)]; twice {
			t.Errorf("contents %d and %d have one fingerprint", other, i)
		}
		seen[sum(c)] = i
	}
	at := time.Unix(1, 0)
	for i, same := range [][2]content{
		{func(f *Fingerprint) { f.Decimal("a", MustDecimal("1.0")) }, func(f *Fingerprint) { f.Decimal("a", MustDecimal("1")) }},
		{func(f *Fingerprint) { f.Float64("a", 0) }, func(f *Fingerprint) { var zero float64; f.Float64("a", -zero) }},
		{func(f *Fingerprint) { f.Int32("a", 7) }, func(f *Fingerprint) { f.Int64("a", 7) }},
		{func(f *Fingerprint) { f.Time("a", at) }, func(f *Fingerprint) { f.Time("a", at.In(time.FixedZone("", 60))) }},
		{func(f *Fingerprint) { f.JSONValue("a", []byte(`{"b":[1,"x \" y"]}`)) }, func(f *Fingerprint) { f.JSONValue("a", []byte(" {\n\"b\" : [ 1,\t\"x \\\" y\"]\r}")) }},
		{func(f *Fingerprint) { f.JSONValue("a", []byte(`{"b": [1]}`)) }, func(f *Fingerprint) {
			f.AppendJSONValue("a", func(b []byte) []byte { return append(b, `{"b":[1.00]}`...) })
		}},
	} {
		if sum(same[0]) != sum(same[1]) {
			t.Errorf("pair %d: equal contents have two fingerprints", i)
		}
	}
	if got := fmt.Sprintf("%08x", sum(different[1])); got != "01aff348" {
		t.Errorf("a stored fingerprint would change: got %s", got)
	}
}
