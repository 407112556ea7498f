package wire

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// What is stored keeps its form over releases: keys' fingerprints of JSON, and the ids of events
// that are sent.
func TestStoredFormsStay(t *testing.T) {
	got := contentOf(`{"b":[-1.50,0.00012,1e400,90,-0,12E-3,10000000000, 9],"a":"old","c":[true,null,false],"a":"x\u0041\ud83d\ude00\ny"}`)
	const want = "7b220000000161220000000878" + "41f09f98800a79" + "2200000001625b" +
		"232d3135652d312c" + "233132652d352c" + "233165343030" + "2c" + "23396531" + "2c2330" + "2c" + "233132652d33" + "2c" + "2331653130" + "2c" + "23396530" + "2c5d" +
		"2200000001635b742c6e2c662c5d7d"
	if hex.EncodeToString([]byte(got)) != want {
		t.Errorf("the content of a value is\n%x, want\n%s", got, want)
	}
	m := Message{Topic: "t", Partition: 3, Offset: 5, Time: time.UnixMilli(1795424400007)}
	b := NewBatch(&stepping{})
	b.Reset(nil)
	b.From("c", UUID{1})
	if _, err := b.Add(&m, &FailurePolicy{}); err != nil {
		t.Fatal(err)
	}
	if id := b.OutboxID(&m, "s").String(); id != "c24cc882-59e2-8ace-b088-26338a7ef92d" {
		t.Errorf("the id of an event is %s", id)
	}
}

// Values of an owner stay as they were read when the record's memory has other bytes, and those
// that are lent take none.
func TestOwnedValuesStay(t *testing.T) {
	for _, owned := range []bool{true, false} {
		var r Reader
		if r.Lend(); owned {
			r.Own()
		}
		raw, number := []byte("abc"), []byte("12.50")
		text, decimal := r.text(raw, "x", ""), r.text(number, "x", "")
		read, first, second := text.Raw(), decimal.Decimal(), r.text([]byte("3e1"), "x", "").Decimal()
		third := r.text([]byte("4e1"), "x", "").Decimal()
		copy(raw, "xyz")
		copy(number, "99.99")
		clear(r.bytes)
		if stays := string(read) == "abc" && first.String() == "12.50" && second.String() == "30" && third.String() == "40"; stays != owned || r.err != nil {
			t.Errorf("owned %t: %q, %v, %v, %v; error %v", owned, read, first, second, third, r.err)
		}
	}
}

// A reader keeps memory for the next record and no value.
func TestReaderIsEmptyAfterLend(t *testing.T) {
	var r Reader
	r.Lend()
	Keep(&r, "a")
	Keep(&r, UUID{1})
	Keep(&r, true)
	Keep(&r, int32(1))
	Keep(&r, int64(1))
	Keep(&r, 1.5)
	Keep(&r, MustDecimal("1"))
	Keep(&r, time.UnixMilli(5))
	Keep(&r, LocalTime(3))
	Keep(&r, Date(4))
	r.text([]byte("AAE="), "x", "").Bytes()
	o := &r.optional
	held := func() (all []int) {
		return []int{len(o.texts), len(o.uuids), len(o.bools), len(o.int32s), len(o.int64s), len(o.floats), len(o.decimals), len(o.times), len(o.locals), len(o.dates)}
	}
	for i, n := range held() {
		if n != 1 {
			t.Errorf("%d values of kind %d", n, i)
		}
	}
	if len(r.bytes) != 2 {
		t.Errorf("%d bytes", len(r.bytes))
	}
	r.Lend()
	for i, n := range held() {
		if n != 0 {
			t.Errorf("%d values of kind %d are kept", n, i)
		}
	}
	if len(r.bytes) != 0 || cap(r.bytes) == 0 || cap(o.floats) == 0 {
		t.Errorf("%d bytes are kept in memory of %d", len(r.bytes), cap(r.bytes))
	}
}

// What cannot be read is refused, and what comes after a failure is not read.
func TestWhatCannotBeReadIsRefused(t *testing.T) {
	const refused = `"\ud800 "`
	for want, read := range map[string]func(r *Reader){
		"decode: E: record key holds a value that cannot be shown": func(r *Reader) {
			r.RecordKey(&Message{Key: []byte(refused), whyKey: map[int]string{0: "cannot be shown"}})
		},
		"decode: E: record value holds a value that cannot be shown": func(r *Reader) {
			r.RecordValue(&Message{Value: []byte(refused), why: map[int]string{0: "cannot be shown"}})
		},
		"decode: E: record timestamp is out of range": func(r *Reader) { r.RecordTime(&Message{Time: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}) },
		"decode: E: y is odd": func(r *Reader) {
			text := r.text([]byte("7"), "x", "")
			r.Fail("y", 0, "is odd")
			if text.Int32() != 0 || text.Date() != 0 || !r.RecordTime(&Message{Time: time.UnixMilli(5)}).IsZero() {
				t.Error("a value is read after a failure")
			}
		},
	} {
		var r Reader
		r.Lend()
		if read(&r); r.Err("E") == nil || r.Err("E").Error() != want {
			t.Errorf("got %v, want %s", r.Err("E"), want)
		}
	}
	var r Reader
	r.Lend()
	if first := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC); !r.RecordTime(&Message{Time: first}).Equal(first) || r.err != nil {
		t.Errorf("the year 0: %v", r.err)
	}
	for want, n := range map[string]pgtype.Numeric{
		"cannot scan NULL":            {},
		"cannot scan NaN or infinity": {NaN: true, Int: big.NewInt(1), Valid: true},
		"NaN or infinity":             {InfinityModifier: pgtype.NegativeInfinity, Int: big.NewInt(1), Valid: true},
		"scan NaN":                    {Valid: true},
	} {
		d := MustDecimal("7")
		if err := d.ScanNumeric(n); err == nil || !strings.Contains(err.Error(), want) || d.String() != "7" {
			t.Errorf("%s: %v, %v", want, err, d)
		}
	}
}

// Writes of a table that the catalog knows more of are kept apart so far as it says.
func TestWavesOfTablesThatAreKeptApart(t *testing.T) {
	for _, c := range []struct {
		apart         Apart
		records, want string
	}{
		{0, "upsert order 1 / upsert order 1", "put order 1 2"},
		{ApartRows, "upsert order 1 / upsert order 1", "put order 1 | put order 2"},
		{ApartRows, "upsert order 1 / upsert order 2", "put order 1 2"},
		{ApartRows, "upsert item 1 / upsert item 1", "put item 1 2"},
		{ApartRows, "add order 1 / add order 1 / add order 2", "add order 1 | add order 2 3"},
		{ApartRows, "put order 1 / delete order 2", "put order 1, delete order 2"},
		{ApartTable, "put order 1 / put order 2", "put order 1 | put order 2"},
		{ApartTable, "put order 1 / delete order 2", "put order 1 | delete order 2"},
		{ApartTable, "delete order 1 / delete order 2", "delete order 1 | delete order 2"},
		{ApartTable, "delete order 1 / put order 2", "delete order 1 | put order 2"},
		{ApartTable, "put item 1 / put item 2", "put item 1 2"},
		{ApartRecords, "put order 1 / put order 2", "put order 1 | put order 2"},
		{0, "put order 1 / unlink order; delete item 1", "put order 1, delete item 2"},
		{0, "read order 5; deleteall item; put item 1 / put order 5", "delete item 1 | put order 2, put item 1"},
	} {
		p := newScript()
		b := NewBatch(p)
		b.KeepApart(map[string]Apart{"order": c.apart}, false)
		if got := p.run(b, strings.Split(c.records, " / ")...); got != c.want {
			t.Errorf("%v apart: %s\n got %s\nwant %s", c.apart, c.records, got, c.want)
		}
	}
}
