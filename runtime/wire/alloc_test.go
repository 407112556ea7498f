package wire

import (
	"encoding/json"
	"testing"
	"time"
)

// In steady state the texts of an event, its key, its fingerprint and its rows need no memory.
func TestRowsAllocateNothing(t *testing.T) {
	m := &Message{Headers: []Header{
		{"text", []byte("x")}, {"n", []byte("7")}, {"d", []byte("1e2")}, {"b", []byte("AAE=")}, {"at", []byte("2024-02-29T12:00:00Z")}, {"color", []byte("red")}}}
	amount, raw, list := MustDecimal("12.50"), json.RawMessage(`{"a": 1}`), []string{"a", "b"}
	appendRaw := func(b []byte) []byte { return AppendRaw(b, raw) }
	var s Reader
	var k KeyBuilder
	var f Fingerprint
	var fit Fit
	var r Rows
	var args [][]byte
	event := func() {
		s.Lend()
		tenant, _ := s.OptHeader(m, "text")
		name, n, d := Keep(&s, tenant.String()), s.Header(m, "n").Int32(), Keep(&s, s.Header(m, "d").Decimal())
		b, at, color := s.Header(m, "b").Bytes(), Keep(&s, s.Header(m, "at").Time()), OptEnumText(s.Header(m, "color"), colors)
		if err := s.Err("Kinds"); err != nil {
			t.Fatal(err)
		}
		fit.In("list", 1)
		fit.Varchar("s", name, 20)
		fit.Numeric("d", &amount, 12, 2)
		fit.Out()
		k.Start("0123456789abcdef")
		k.Header(m, "text")
		k.Text("s", "x")
		k.Decimal("d", amount)
		key, err := k.Sum("Kinds")
		if err != nil || fit.Err("Kinds") != nil {
			t.Fatal(err)
		}
		f.Start()
		f.Text("s", *name)
		f.JSONValue("j", raw)
		f.AppendJSON("k", appendRaw)
		f.AppendJSONValue("l", appendRaw)
		row := r.Row()
		row.UUID(UUID(key))
		row.Int8(int64(f.Sum()))
		OrNull(row, row.Text, name)
		row.Int4(n)
		row.Numeric(amount)
		row.Bytea(b)
		OrNull(row, row.Time, at)
		row.JSONB(raw)
		row.AppendJSONB(appendRaw)
		OrNull(row, row.Numeric, d)
		OrNull(row, row.Text, color)
		OrNull[time.Time](row, row.Time, nil)
		SliceOrNull(row, row.Bytea, nil)
		row.TextArray(list)
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
	if n := cap(s.bytes); n > 256 { // it would grow with each event
		t.Errorf("the reader keeps %d bytes", n)
	}
}
