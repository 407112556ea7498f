package wire

import "testing"

// In steady state a borrowed event, its key, its fingerprint and its rows need no memory.
func TestNoAllocations(t *testing.T) {
	m := &Message{Value: []byte(kindsJSON), Key: []byte(`{"price":1}`), Headers: []Header{
		{"text", []byte("x")}, {"n", []byte("7")}, {"d", []byte("1e2")}, {"b", []byte("AAE=")}, {"at", []byte("2024-02-29T12:00:00Z")}}}
	var s Scanner
	var e kinds
	var part inner
	var k KeyBuilder
	var f Fingerprint
	var fit Fit
	var r Rows
	var args [][]byte
	event := func() {
		if _, err := s.EventType(m, "s"); err != nil {
			t.Fatal(err)
		}
		s.Borrow(m)
		e.decode(&s)
		s.NextKey(m)
		part.decode(&s)
		tenant, _ := s.OptHeader(m, "text")
		name, n, d := tenant.OptString(), s.Header(m, "n").Int32(), s.Header(m, "d").Decimal()
		b, at := s.Header(m, "b").Bytes(), s.Header(m, "at").Time()
		if err := s.Finish("Kinds"); err != nil {
			t.Fatal(err)
		}
		fit.In("list", 1)
		fit.Varchar("s", e.S, 20)
		fit.Numeric("d", e.D, 12, 2)
		fit.Out()
		k.Start("0123456789abcdef")
		k.Header(m, "text")
		k.Text("s", e.S)
		k.Decimal("d", e.D)
		key, err := k.Sum("Kinds")
		if err != nil || fit.Err("Kinds") != nil {
			t.Fatal(err)
		}
		f.Start()
		f.Text("s", e.S)
		f.OptDecimal("d", e.O.D)
		f.JSON("j", e.J)
		row := r.Row()
		row.UUID(UUID(key))
		row.Int8(int64(f.Sum()))
		row.OptText(name)
		row.Int4(n)
		row.Numeric(d)
		row.Bytea(b)
		row.Time(at)
		row.JSONB(e.J)
		row.OptNumeric(e.O.D)
		row.TextArray(e.List)
	}
	batch := func() {
		event()
		args = r.Seal(args[:0])
		event() // a second wave
		args = r.Seal(args)
		r.reset()
	}
	batch()
	if n := testing.AllocsPerRun(100, batch); n != 0 {
		t.Errorf("%v allocations in two events", n)
	}
}
