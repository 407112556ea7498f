package wire

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// Rows collects the rows of one statement as one Postgres array per parameter, directly in the
// binary wire format: each value is copied once, and nothing is boxed. Call Row, then one method
// per parameter, in order, with the same methods for every row. The zero value is empty and ready
// for use. Its memory may be reused after the batch has been sent.
type Rows struct {
	cols []column
	next int // parameter that comes next; len(cols) between two rows
	n    int
}

// column is one parameter: finished arrays of earlier waves, which statements of the same
// batch still refer to, then the array that grows. Nothing before len(buf) moves within its
// memory. Growing copies it; statements that refer to the old memory keep it.
type column struct {
	buf   []byte
	start int // of the growing array's header
	elem  uint32
	nulls bool
}

// arrayHeader is dimensions, null flag, element type, length and lower bound.
const arrayHeader = 20

var emptyHeader [arrayHeader]byte

// Len returns the number of rows of the growing arrays.
func (r *Rows) Len() int { return r.n }

// Row starts a row and returns r. It panics if the previous row lacks a parameter, which only
// wrongly generated code can cause.
func (r *Rows) Row() *Rows {
	if r.next != len(r.cols) {
		panic("idem: the generated code left a row incomplete")
	}
	r.next = 0
	r.n++
	return r
}

func (r *Rows) col(elem uint32) *column {
	if r.next == len(r.cols) {
		r.cols = append(r.cols, column{buf: append([]byte(nil), emptyHeader[:]...), elem: elem})
	}
	c := &r.cols[r.next]
	r.next++
	return c
}

// Seal completes the growing arrays, appends them to dst, and starts new ones after them. The
// returned arrays do not change until reset.
func (r *Rows) Seal(dst [][]byte) [][]byte {
	for i := range r.cols {
		c := &r.cols[i]
		h := c.buf[c.start:]
		binary.BigEndian.PutUint32(h, 1)
		if c.nulls {
			binary.BigEndian.PutUint32(h[4:], 1)
		}
		binary.BigEndian.PutUint32(h[8:], c.elem)
		binary.BigEndian.PutUint32(h[12:], uint32(r.n))
		binary.BigEndian.PutUint32(h[16:], 1)
		dst = append(dst, h[:len(h):len(h)])
		c.start, c.nulls = len(c.buf), false
		c.buf = append(c.buf, emptyHeader[:]...)
	}
	r.n, r.next = 0, len(r.cols)
	return dst
}

// reset drops all rows and gives the memory of all sealed arrays free for reuse.
func (r *Rows) reset() {
	for i := range r.cols {
		c := &r.cols[i]
		c.buf = append(c.buf[:0], emptyHeader[:]...)
		c.start, c.nulls = 0, false
	}
	r.n, r.next = 0, len(r.cols)
}

// at is the place of the next parameter's value.
func (r *Rows) at() int {
	if r.next == len(r.cols) {
		return arrayHeader
	}
	return len(r.cols[r.next].buf)
}

// Null sets the next parameter to NULL; set is the method for its type: r.Null(r.JSONB).
func (r *Rows) Null(set func([]byte)) {
	at := r.at()
	set(nil)
	r.null(at)
}

// null makes the parameter that was set last, from at on, NULL.
func (r *Rows) null(at int) {
	c := &r.cols[r.next-1]
	c.nulls = true
	c.buf = append(c.buf[:at], 0xff, 0xff, 0xff, 0xff)
}

// appendSized appends what put appends, with its length in front.
func (c *column) appendSized(put func([]byte) []byte) {
	at := len(c.buf)
	c.buf = put(append(c.buf, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(c.buf[at:], uint32(len(c.buf)-at-4))
}

func (r *Rows) bytes(elem uint32, v []byte) {
	c := r.col(elem)
	c.buf = append(binary.BigEndian.AppendUint32(c.buf, uint32(len(v))), v...)
}

func (r *Rows) fixed4(elem uint32, v uint32) {
	c := r.col(elem)
	c.buf = binary.BigEndian.AppendUint32(append(c.buf, 0, 0, 0, 4), v)
}

func (r *Rows) fixed8(elem uint32, v uint64) {
	c := r.col(elem)
	c.buf = binary.BigEndian.AppendUint64(append(c.buf, 0, 0, 0, 8), v)
}

// UUID sets a uuid parameter.
func (r *Rows) UUID(v UUID) {
	c := r.col(pgtype.UUIDOID)
	c.buf = append(append(c.buf, 0, 0, 0, 16), v[:]...)
}

// Text sets a text parameter.
func (r *Rows) Text(v string) {
	c := r.col(pgtype.TextOID)
	c.buf = append(binary.BigEndian.AppendUint32(c.buf, uint32(len(v))), v...)
}

// Bool sets a boolean parameter.
func (r *Rows) Bool(v bool) {
	c := r.col(pgtype.BoolOID)
	var b byte
	if v {
		b = 1
	}
	c.buf = append(c.buf, 0, 0, 0, 1, b)
}

// Int4 sets an integer parameter.
func (r *Rows) Int4(v int32) { r.fixed4(pgtype.Int4OID, uint32(v)) }

// Int8 sets a bigint parameter.
func (r *Rows) Int8(v int64) { r.fixed8(pgtype.Int8OID, uint64(v)) }

// Float8 sets a double precision parameter.
func (r *Rows) Float8(v float64) { r.fixed8(pgtype.Float8OID, math.Float64bits(v)) }

// Postgres counts from 2000-01-01.
const (
	pgFirstDay   = 10957
	pgFirstMicro = pgFirstDay * notation.DaySeconds * 1e6
)

// Time sets a timestamptz parameter, truncated to microseconds.
func (r *Rows) Time(v time.Time) {
	r.fixed8(pgtype.TimestamptzOID, uint64(v.UnixMicro()-pgFirstMicro))
}

// Timestamp sets a timestamp parameter.
func (r *Rows) Timestamp(v LocalTime) {
	r.fixed8(pgtype.TimestampOID, uint64(int64(v)-pgFirstMicro))
}

// Date sets a date parameter.
func (r *Rows) Date(v Date) { r.fixed4(pgtype.DateOID, uint32(int32(v)-pgFirstDay)) }

// Bytea sets a bytea parameter; nil means empty, not NULL.
func (r *Rows) Bytea(v []byte) { r.bytes(pgtype.ByteaOID, v) }

// JSON sets a json parameter.
func (r *Rows) JSON(v []byte) { r.bytes(pgtype.JSONOID, v) }

// JSONB sets a jsonb parameter.
func (r *Rows) JSONB(v []byte) {
	c := r.col(pgtype.JSONBOID)
	c.buf = append(binary.BigEndian.AppendUint32(c.buf, uint32(len(v)+1)), jsonbVersion)
	c.buf = append(c.buf, v...)
}

// AppendJSON sets a json parameter to what put appends.
func (r *Rows) AppendJSON(put func([]byte) []byte) { r.col(pgtype.JSONOID).appendSized(put) }

// AppendJSONB sets a jsonb parameter to what put appends.
func (r *Rows) AppendJSONB(put func([]byte) []byte) {
	r.col(pgtype.JSONBOID).appendSized(func(b []byte) []byte { return put(append(b, jsonbVersion)) })
}

// jsonbVersion is the first byte of a jsonb value on the wire.
const jsonbVersion = 1

// Numeric sets a numeric parameter.
func (r *Rows) Numeric(v Decimal) {
	c := r.col(pgtype.NumericOID)
	at := len(c.buf)
	c.buf = appendNumeric(append(c.buf, 0, 0, 0, 0), v.String())
	binary.BigEndian.PutUint32(c.buf[at:], uint32(len(c.buf)-at-4))
}

// appendNumeric appends the wire form of a number without exponent: a header of 16-bit
// fields (groups, weight of the first one, sign, scale), then groups of four decimal
// digits, with no zero group at either end.
func appendNumeric(b []byte, text string) []byte {
	const header, negative = 8, 0x4000
	var sign uint16
	if text[0] == '-' {
		sign, text = negative, text[1:]
	}
	whole, fraction := text, ""
	if point := strings.IndexByte(text, '.'); point >= 0 {
		whole, fraction = text[:point], text[point+1:]
	}
	scale := len(fraction)
	if whole == "0" {
		whole = ""
	}
	at := len(b)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	weight := (len(whole)+3)/4 - 1
	if head := len(whole) % 4; head > 0 {
		b = appendGroup(b, whole[:head])
		whole = whole[head:]
	}
	for ; len(whole) > 0; whole = whole[4:] {
		b = appendGroup(b, whole[:4])
	}
	for ; len(fraction) >= 4; fraction = fraction[4:] {
		if len(b) == at+header && fraction[:4] == "0000" {
			weight-- // a zero group before the first digit
			continue
		}
		b = appendGroup(b, fraction[:4])
	}
	if len(fraction) > 0 {
		b = appendGroup(b, (fraction + "000")[:4])
	}
	for len(b) > at+header && b[len(b)-1] == 0 && b[len(b)-2] == 0 {
		b = b[:len(b)-2]
	}
	groups := (len(b) - at - header) / 2
	if groups == 0 {
		weight, sign = 0, 0
	}
	binary.BigEndian.PutUint16(b[at:], uint16(groups))
	binary.BigEndian.PutUint16(b[at+2:], uint16(int16(weight)))
	binary.BigEndian.PutUint16(b[at+4:], sign)
	binary.BigEndian.PutUint16(b[at+6:], uint16(scale))
	return b
}

func appendGroup(b []byte, digits string) []byte {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return append(b, byte(n>>8), byte(n))
}
