package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// arrays has a row of every parameter type twice, then one of NULLs. With pgx's own
// values of the same arrays.
func arrays(r *Rows) (oids []uint32, values []any) {
	add := func(oid uint32, value any) {
		oids, values = append(oids, oid), append(values, value)
	}
	id, noon, color := UUID{1, 15: 2}, at("2024-02-29T12:00:00.123456Z"), "red \"\\{},é"
	old, local, day := at("0001-01-01T00:00:00Z"), LocalTime(1), Date(19782)
	amount, small, i4, i8, f8, yes := MustDecimal("-12345.6789"), MustDecimal("0.05"), int32(-5), int64(1)<<60, -1.5, true
	raw := []byte(`{"a": [1, null]}`)
	for i := range 2 {
		row := r.Row()
		row.UUID([]UUID{id, {}}[i])
		row.Text([]string{color, ""}[i])
		row.Bool(i == 0)
		row.Int4([]int32{i4, 1<<31 - 1}[i])
		row.Int8([]int64{i8, -1 << 63}[i])
		row.Float8([]float64{f8, 1e300}[i])
		row.Numeric([]Decimal{amount, small}[i])
		row.Time([]time.Time{noon, old}[i])
		row.Timestamp([]LocalTime{local, notation.LastMicro}[i])
		row.Date([]Date{day, notation.FirstDay}[i])
		row.Bytea([][]byte{{0, 255}, nil}[i])
		row.JSONB([][]byte{raw, []byte("1")}[i])
		row.JSON([][]byte{raw, []byte("1")}[i])
		row.TextArray([][]string{{color, "", "NULL"}, nil}[i])
		row.Int4Array([][]int32{{1, -2}, {}}[i])
		row.Int8Array([][]int64{{1 << 60}, {}}[i])
		row.UUIDArray([][]UUID{{id, {}}, {}}[i])
		row.BoolArray([][]bool{{true, false}, nil}[i])
		row.Float8Array([][]float64{{0.1, -1e21}, nil}[i])
		row.NumericArray([][]Decimal{{amount, small}, nil}[i])
		row.TimeArray([][]time.Time{{noon, at("0000-02-29T00:00:00Z")}, nil}[i])
		row.TimestampArray([][]LocalTime{{local, notation.FirstMicro}, nil}[i])
		row.DateArray([][]Date{{day, notation.FirstDay}, nil}[i])
	}
	nulls := r.Row()
	OrNull(nulls, nulls.UUID, nil)
	OrNull(nulls, nulls.Text, nil)
	OrNull(nulls, nulls.Bool, nil)
	OrNull(nulls, nulls.Int4, nil)
	OrNull(nulls, nulls.Int8, nil)
	OrNull(nulls, nulls.Float8, nil)
	OrNull(nulls, nulls.Numeric, nil)
	OrNull(nulls, nulls.Time, nil)
	OrNull(nulls, nulls.Timestamp, nil)
	OrNull(nulls, nulls.Date, nil)
	SliceOrNull(nulls, nulls.Bytea, nil)
	SliceOrNull(nulls, nulls.JSONB, nil)
	SliceOrNull(nulls, nulls.JSON, nil)
	SliceOrNull(nulls, nulls.TextArray, nil)
	SliceOrNull(nulls, nulls.Int4Array, nil)
	SliceOrNull(nulls, nulls.Int8Array, nil)
	SliceOrNull(nulls, nulls.UUIDArray, nil)
	SliceOrNull(nulls, nulls.BoolArray, nil)
	SliceOrNull(nulls, nulls.Float8Array, nil)
	SliceOrNull(nulls, nulls.NumericArray, nil)
	SliceOrNull(nulls, nulls.TimeArray, nil)
	SliceOrNull(nulls, nulls.TimestampArray, nil)
	SliceOrNull(nulls, nulls.DateArray, nil)

	no, max4, min8, big8, none := false, int32(1<<31-1), int64(-1<<63), 1e300, ""
	text, one := string(raw), "1"
	add(pgtype.UUIDArrayOID, []*UUID{&id, {}, nil})
	add(pgtype.TextArrayOID, []*string{&color, &none, nil})
	add(pgtype.BoolArrayOID, []*bool{&yes, &no, nil})
	add(pgtype.Int4ArrayOID, []*int32{&i4, &max4, nil})
	add(pgtype.Int8ArrayOID, []*int64{&i8, &min8, nil})
	add(pgtype.Float8ArrayOID, []*float64{&f8, &big8, nil})
	add(pgtype.NumericArrayOID, []*Decimal{&amount, &small, nil})
	add(pgtype.TimestamptzArrayOID, []*time.Time{&noon, &old, nil})
	add(pgtype.TimestampArrayOID, []*LocalTime{&local, new(LocalTime(notation.LastMicro)), nil})
	add(pgtype.DateArrayOID, []*Date{&day, new(Date(notation.FirstDay)), nil})
	add(pgtype.ByteaArrayOID, [][]byte{{0, 255}, {}, nil})
	add(pgtype.JSONBArrayOID, []*string{&text, &one, nil})
	add(pgtype.JSONArrayOID, []*string{&text, &one, nil})
	literals := []string{`{"red \"\\{},é","","NULL"}`, "{1,-2}", "{1152921504606846976}",
		"{01000000-0000-0000-0000-000000000002,00000000-0000-0000-0000-000000000000}",
		"{true,false}", "{0.1,-1e+21}", "{-12345.6789,0.05}", "{2024-02-29 12:00:00.123456+00,0001-02-29 00:00:00+00 BC}",
		"{1970-01-01 00:00:00.000001,0001-01-01 00:00:00 BC}", "{2024-02-29,0001-01-01 BC}"}
	for i := range literals {
		empty := "{}"
		add(pgtype.TextArrayOID, []*string{&literals[i], &empty, nil})
	}
	return oids, values
}

// Every column is byte for byte what pgx sends for the same values.
func TestRowsEqualPgx(t *testing.T) {
	var r Rows
	oids, values := arrays(&r)
	got := r.Seal(nil)
	if len(got) != len(values) {
		t.Fatalf("%d columns, want %d", len(got), len(values))
	}
	pg := pgtype.NewMap()
	for i, v := range values {
		want, err := pg.Encode(oids[i], pgtype.BinaryFormatCode, v, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[i], want) {
			t.Errorf("column %d %T\n got %x\nwant %x", i, v, got[i], want)
		}
	}
}

// A value that may be NULL but is not is written like one that may not be.
func TestRowsOrNull(t *testing.T) {
	var plain, opt Rows
	p, o := plain.Row(), opt.Row()
	id, at, d := UUID{9}, time.Unix(5, 0), MustDecimal("1.5")
	p.UUID(id)
	OrNull(o, o.UUID, &id)
	p.Text("x")
	OrNull(o, o.Text, new("x"))
	p.Bool(true)
	OrNull(o, o.Bool, new(true))
	p.Int4(4)
	OrNull(o, o.Int4, new(int32(4)))
	p.Int8(8)
	OrNull(o, o.Int8, new(int64(8)))
	p.Float8(1.5)
	OrNull(o, o.Float8, new(1.5))
	p.Numeric(d)
	OrNull(o, o.Numeric, &d)
	p.Time(at)
	OrNull(o, o.Time, &at)
	p.Timestamp(7)
	OrNull(o, o.Timestamp, new(LocalTime(7)))
	p.Date(3)
	OrNull(o, o.Date, new(Date(3)))
	p.Bytea(nil)
	SliceOrNull(o, o.Bytea, []byte{})
	p.JSONB([]byte("1"))
	SliceOrNull(o, o.JSONB, []byte("1"))
	p.JSON([]byte("1"))
	SliceOrNull(o, o.JSON, []byte("1"))
	p.TextArray(nil)
	SliceOrNull(o, o.TextArray, []string{})
	p.Int4Array([]int32{1})
	SliceOrNull(o, o.Int4Array, []int32{1})
	p.Int8Array([]int64{1})
	SliceOrNull(o, o.Int8Array, []int64{1})
	p.UUIDArray([]UUID{id})
	SliceOrNull(o, o.UUIDArray, []UUID{id})
	if want, got := plain.Seal(nil), opt.Seal(nil); !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

// What Seal returned stays, however much the later waves of a batch hold, until reset; a
// reset Rows fills again like a new one.
func TestSealedRowsStay(t *testing.T) {
	fill := func(r *Rows, from, n int) {
		for i := range n {
			row := r.Row()
			row.Int4(int32(from + i))
			OrNull(row, row.Text, map[bool]*string{true: new(strings.Repeat("x", i))}[(from+i)%2 == 1])
		}
	}
	var r Rows
	for range 2 {
		var waves, want [][][]byte
		for i, n := range []int{1, 1, 200, 2, 5000} {
			fill(&r, i, n)
			if r.Len() != n {
				t.Fatalf("%d rows, want %d", r.Len(), n)
			}
			sealed := r.Seal(nil)
			if cap(sealed[0]) != len(sealed[0]) {
				t.Error("appending to a sealed array would write into the next one")
			}
			waves = append(waves, sealed)
			var alone Rows
			fill(&alone, i, n)
			want = append(want, alone.Seal(nil))
			if r.Len() != 0 {
				t.Fatal("Seal kept rows")
			}
		}
		if fmt.Sprintf("%x", waves) != fmt.Sprintf("%x", want) {
			t.Error("a sealed array changed")
		}
		r.reset()
	}
	fill(&r, 0, 2)
	r.Row().Int4(0) // interrupted
	r.reset()
	fill(&r, 7, 1)
	var alone Rows
	fill(&alone, 7, 1)
	if got, want := r.Seal(nil), alone.Seal(nil); !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("after reset: got %x, want %x", got, want)
	}
}

// A row that lacks a parameter is never followed by another one.
func TestIncompleteRow(t *testing.T) {
	var r Rows
	row := r.Row()
	row.Int4(1)
	row.Int4(2)
	r.Row().Int4(1)
	defer func() {
		if recover() == nil {
			t.Error("the row was accepted")
		}
	}()
	r.Row()
}

var numerics = []string{"0", "-0", "0.00", "-0.0", "1", "-1", "10", "9999", "10000", "100000000", "12.30", "-129.95", "0.1", "0.0001", "0.00001",
	"0.00010001", "1.0000", "1.00001", "10000.0001", "99999999999.999", "12345678901234567890.123456789", "-0.5",
	strings.Repeat("9", 1000), "0." + strings.Repeat("0", 998) + "1", "1" + strings.Repeat("0", 998)}

// The wire form of a number is what pgx reads as that number, and is canonical.
func TestNumeric(t *testing.T) {
	for _, text := range numerics {
		checkNumeric(t, text)
	}
}

func FuzzNumeric(f *testing.F) {
	for _, text := range numerics {
		f.Add(text)
	}
	f.Add("1.50e-7")
	f.Add("0E9227000000000000000")
	f.Fuzz(checkNumeric)
}

func checkNumeric(t *testing.T, text string) {
	d, err := ParseDecimal(text)
	if err != nil {
		return
	}
	var n pgtype.Numeric
	if err := pgtype.NewMap().Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, appendNumeric(nil, d.String()), &n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var back Decimal
	if err := back.ScanNumeric(n); err != nil || back.normal() != d.normal() || rational(d.String()) != rational(text) {
		t.Errorf("%s: parsed as %s, read back as %s, %v", text, d, back, err)
	}
	b := appendNumeric(nil, d.String())
	groups := b[8:]
	if len(groups) > 0 && (groups[0]|groups[1] == 0 || groups[len(groups)-1]|groups[len(groups)-2] == 0) {
		t.Errorf("%s: a zero group at an end of %x", text, b)
	}
	if len(groups) == 0 && (b[2]|b[3] != 0 || b[4] != 0) {
		t.Errorf("%s: zero with a weight or a sign: %x", text, b)
	}
	_, fraction, _ := strings.Cut(d.String(), ".")
	if scale := int(b[6])<<8 | int(b[7]); scale != len(fraction) {
		t.Errorf("%s: scale %d", text, scale)
	}
}
