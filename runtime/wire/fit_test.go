package wire

import "testing"

// A value fits its column if nothing of it would be cut, rounded or padded.
func TestFit(t *testing.T) {
	d := func(text string) *Decimal { return new(MustDecimal(text)) }
	for _, c := range []struct {
		check func(f *Fit)
		want  string
	}{
		{func(f *Fit) { f.Varchar("a", new("éé"), 2) }, ""},
		{func(f *Fit) { f.Varchar("a", new("ééé"), 2) }, "fit: E: a is longer than 2 characters"},
		{func(f *Fit) { f.Varchar("a", new("a "), 1) }, "fit: E: a is longer than 1 character"},
		{func(f *Fit) { f.Varchar("a", new(""), 1) }, ""},
		{func(f *Fit) { f.Char("a", new("€$é"), 3) }, ""},
		{func(f *Fit) { f.Char("a", new("EU"), 3) }, "fit: E: a must have exactly 3 characters"},
		{func(f *Fit) { f.Char("a", new("EURO"), 3) }, "fit: E: a must have exactly 3 characters"},
		{func(f *Fit) { f.Numeric("a", d("9999999999.99"), 12, 2) }, ""},
		{func(f *Fit) { f.Numeric("a", d("-9999999999.99"), 12, 2) }, ""},
		{func(f *Fit) { f.Numeric("a", d("10000000000"), 12, 2) }, "fit: E: a does not fit numeric(12,2)"},
		{func(f *Fit) { f.Numeric("a", d("1.001"), 12, 2) }, "fit: E: a does not fit numeric(12,2)"},
		{func(f *Fit) { f.Numeric("a", d("1.500"), 12, 2) }, ""},
		{func(f *Fit) { f.Numeric("a", d("-0.000"), 2, 2) }, ""},
		{func(f *Fit) { f.Numeric("a", d("0.99"), 2, 2) }, ""},
		{func(f *Fit) { f.Numeric("a", d("1"), 2, 2) }, "fit: E: a does not fit numeric(2,2)"},
		{func(f *Fit) { f.Numeric("a", d("0.009"), 1, 3) }, ""},
		{func(f *Fit) { f.Numeric("a", d("0.01"), 1, 3) }, "fit: E: a does not fit numeric(1,3)"},
		{func(f *Fit) { f.Numeric("a", d("7"), 1, 0) }, ""},
		{func(f *Fit) { f.Numeric("a", d("0.1"), 1, 0) }, "fit: E: a does not fit numeric(1,0)"},
		{func(f *Fit) { f.Smallint("a", new(int32(32767))); f.Smallint("a", new(int32(-32768))) }, ""},
		{func(f *Fit) { f.Smallint("a", new(int32(32768))) }, "fit: E: a is out of the range of smallint"},
		{func(f *Fit) { f.Smallint("a", new(int32(-32769))) }, "fit: E: a is out of the range of smallint"},
		{func(f *Fit) { f.Real("a", new(0.1)); f.Real("a", new(16777216.0)); f.Real("a", new(1e-45)) }, ""},
		{func(f *Fit) { f.Real("a", new(16777217.0)) }, "fit: E: a has more digits than real holds"},
		{func(f *Fit) { f.Real("a", new(float64(float32(0.1)))) }, "fit: E: a has more digits than real holds"},
		{func(f *Fit) { f.Real("a", new(1e39)) }, "fit: E: a has more digits than real holds"},
		{func(f *Fit) { f.Real("a", new(1e-60)) }, "fit: E: a has more digits than real holds"},
		{func(f *Fit) { FitEach(f, f.Smallint, "a", []int32{1, 40000, 50000}) }, "fit: E: a[1] is out of the range of smallint"},
		{func(f *Fit) { f.In("lines", 3); FitEach(f, f.Smallint, "", []int32{40000}) }, "fit: E: lines[3][0] is out of the range of smallint"},
		{func(f *Fit) { f.Char("b", new(""), 1); FitEach(f, f.Smallint, "a", []int32{40000}) }, "fit: E: b must have exactly 1 character"},
		{func(f *Fit) {
			f.Varchar("a", nil, 1)
			f.Char("a", nil, 1)
			f.Numeric("a", nil, 1, 0)
			f.Smallint("a", nil)
			f.Real("a", nil)
		}, ""},
		{func(f *Fit) { f.In("lines", 3); f.Char("sku", new(""), 1) }, "fit: E: lines[3].sku must have exactly 1 character"},
		{func(f *Fit) { f.In("lines", 3); f.Char("", new(""), 1) }, "fit: E: lines[3] must have exactly 1 character"},
		{func(f *Fit) { f.In("lines", 3); f.Out(); f.Char("sku", new(""), 1) }, "fit: E: sku must have exactly 1 character"},
		{func(f *Fit) { f.Char("a", new(""), 1); f.Char("b", new(""), 1) }, "fit: E: a must have exactly 1 character"},
	} {
		var f Fit
		c.check(&f)
		if got := text(f.Err("E")); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
