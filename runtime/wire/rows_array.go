package wire

import (
	"encoding/binary"
	"strconv"

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
