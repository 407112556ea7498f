package wire

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// An array column travels as the text of an array literal, because unnest would take
// an array of arrays apart; the statement casts the text.

// TextArray sets a text[] column; nil means empty, not NULL.
func (r *Rows) TextArray(v []string) { literal(r, v, appendQuoted) }

// Int4Array sets an integer[] column; nil means empty, not NULL.
func (r *Rows) Int4Array(v []int32) {
	literal(r, v, func(b []byte, v int32) []byte { return strconv.AppendInt(b, int64(v), 10) })
}

// Int8Array sets a bigint[] column; nil means empty, not NULL.
func (r *Rows) Int8Array(v []int64) {
	literal(r, v, func(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) })
}

// BoolArray sets a boolean[] column; nil means empty, not NULL.
func (r *Rows) BoolArray(v []bool) { literal(r, v, strconv.AppendBool) }

// Float8Array sets a double precision[] or real[] column; nil means empty, not NULL.
func (r *Rows) Float8Array(v []float64) {
	literal(r, v, func(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'g', -1, 64) })
}

// NumericArray sets a numeric[] column; nil means empty, not NULL.
func (r *Rows) NumericArray(v []Decimal) {
	literal(r, v, func(b []byte, v Decimal) []byte { return append(b, v.String()...) })
}

// TimeArray sets a timestamptz[] column, truncated to microseconds; nil means empty, not NULL.
func (r *Rows) TimeArray(v []time.Time) {
	literal(r, v, func(b []byte, v time.Time) []byte { return appendDate(b, v.UTC(), "-01-02 15:04:05.999999+00") })
}

// TimestampArray sets a timestamp[] column; nil means empty, not NULL.
func (r *Rows) TimestampArray(v []LocalTime) {
	literal(r, v, func(b []byte, v LocalTime) []byte {
		return appendDate(b, time.UnixMicro(int64(v)).UTC(), "-01-02 15:04:05.999999")
	})
}

// DateArray sets a date[] column; nil means empty, not NULL.
func (r *Rows) DateArray(v []Date) {
	literal(r, v, func(b []byte, v Date) []byte { return appendDate(b, v.Time(), "-01-02") })
}

// appendDate appends a time with its year, which Postgres counts without a year 0.
func appendDate(b []byte, v time.Time, rest string) []byte {
	if v.Year() > 0 {
		return v.AppendFormat(b, "2006"+rest)
	}
	return append(v.AppendFormat(append(b, "0001"...), rest), " BC"...)
}

// UUIDArray sets a uuid[] column; nil means empty, not NULL.
func (r *Rows) UUIDArray(v []UUID) {
	literal(r, v, func(b []byte, v UUID) []byte { return v.append(b) })
}

func literal[T any](r *Rows, values []T, put func([]byte, T) []byte) {
	c := r.col(pgtype.TextOID)
	at := len(c.buf)
	b := append(c.buf, 0, 0, 0, 0, '{')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = put(b, v)
	}
	c.buf = append(b, '}')
	binary.BigEndian.PutUint32(c.buf[at:], uint32(len(c.buf)-at-4))
}

// appendQuoted appends an element in quotes, so that neither a comma nor the word NULL
// nor white space has a meaning.
func appendQuoted(b []byte, v string) []byte {
	b = append(b, '"')
	for i := range len(v) {
		if v[i] == '"' || v[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, v[i])
	}
	return append(b, '"')
}
