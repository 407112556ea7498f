package wire

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// OptUUID sets a uuid parameter, NULL if v is nil.
func (r *Rows) OptUUID(v *UUID) {
	if v == nil {
		r.null(pgtype.UUIDOID)
		return
	}
	r.UUID(*v)
}

// OptText sets a text parameter, NULL if v is nil.
func (r *Rows) OptText(v *string) {
	if v == nil {
		r.null(pgtype.TextOID)
		return
	}
	r.Text(*v)
}

// OptBool sets a boolean parameter, NULL if v is nil.
func (r *Rows) OptBool(v *bool) {
	if v == nil {
		r.null(pgtype.BoolOID)
		return
	}
	r.Bool(*v)
}

// OptInt4 sets an integer parameter, NULL if v is nil.
func (r *Rows) OptInt4(v *int32) {
	if v == nil {
		r.null(pgtype.Int4OID)
		return
	}
	r.Int4(*v)
}

// OptInt8 sets a bigint parameter, NULL if v is nil.
func (r *Rows) OptInt8(v *int64) {
	if v == nil {
		r.null(pgtype.Int8OID)
		return
	}
	r.Int8(*v)
}

// OptFloat8 sets a double precision parameter, NULL if v is nil.
func (r *Rows) OptFloat8(v *float64) {
	if v == nil {
		r.null(pgtype.Float8OID)
		return
	}
	r.Float8(*v)
}

// OptNumeric sets a numeric parameter, NULL if v is nil.
func (r *Rows) OptNumeric(v *Decimal) {
	if v == nil {
		r.null(pgtype.NumericOID)
		return
	}
	r.Numeric(*v)
}

// OptTime sets a timestamptz parameter, NULL if v is nil.
func (r *Rows) OptTime(v *time.Time) {
	if v == nil {
		r.null(pgtype.TimestamptzOID)
		return
	}
	r.Time(*v)
}

// OptTimestamp sets a timestamp parameter, NULL if v is nil.
func (r *Rows) OptTimestamp(v *LocalTime) {
	if v == nil {
		r.null(pgtype.TimestampOID)
		return
	}
	r.Timestamp(*v)
}

// OptDate sets a date parameter, NULL if v is nil.
func (r *Rows) OptDate(v *Date) {
	if v == nil {
		r.null(pgtype.DateOID)
		return
	}
	r.Date(*v)
}

// OptBytea sets a bytea parameter, NULL if v is nil.
func (r *Rows) OptBytea(v []byte) {
	if v == nil {
		r.null(pgtype.ByteaOID)
		return
	}
	r.Bytea(v)
}

// OptJSON sets a json parameter, NULL if v is nil.
func (r *Rows) OptJSON(v []byte) {
	if v == nil {
		r.null(pgtype.JSONOID)
		return
	}
	r.JSON(v)
}

// OptJSONB sets a jsonb parameter, NULL if v is nil.
func (r *Rows) OptJSONB(v []byte) {
	if v == nil {
		r.null(pgtype.JSONBOID)
		return
	}
	r.JSONB(v)
}

// OptTextArray sets a text[] column, NULL if v is nil.
func (r *Rows) OptTextArray(v []string) {
	if v == nil {
		r.null(pgtype.TextOID)
		return
	}
	r.TextArray(v)
}

// OptInt4Array sets an integer[] column, NULL if v is nil.
func (r *Rows) OptInt4Array(v []int32) {
	if v == nil {
		r.null(pgtype.TextOID)
		return
	}
	r.Int4Array(v)
}

// OptInt8Array sets a bigint[] column, NULL if v is nil.
func (r *Rows) OptInt8Array(v []int64) {
	if v == nil {
		r.null(pgtype.TextOID)
		return
	}
	r.Int8Array(v)
}

// OptUUIDArray sets a uuid[] column, NULL if v is nil.
func (r *Rows) OptUUIDArray(v []UUID) {
	if v == nil {
		r.null(pgtype.TextOID)
		return
	}
	r.UUIDArray(v)
}
