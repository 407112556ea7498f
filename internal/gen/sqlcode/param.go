package sqlcode

import (
	"strconv"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func itoa(n int) string { return strconv.Itoa(n) }

// paramType is the element type of the array in which values of a Go type travel.
func paramType(t model.FieldType, c *model.Column) string {
	switch t.Kind {
	case model.UUID:
		return "uuid"
	case model.Bool:
		return "boolean"
	case model.Int32:
		return "integer"
	case model.Int64:
		return "bigint"
	case model.Float64:
		return "double precision"
	case model.Decimal:
		return "numeric"
	case model.Timestamp:
		return "timestamptz"
	case model.LocalTimestamp:
		return "timestamp"
	case model.Date:
		return "date"
	case model.Bytes:
		return "bytea"
	case model.JSON, model.Object, model.List, model.Map:
		switch c.Type.Kind {
		case model.ColJSONB:
			return "jsonb"
		case model.ColJSON:
			return "json"
		}
	}
	return "text" // also arrays: one literal per row, since Postgres has no array of arrays
}

// param is the n-th parameter as a set of rows, in its column's type.
func param(n int, t model.FieldType, c *model.Column) string { return rowsOf("$"+itoa(n), t, c) }

// rowsOf is an array as a set of rows, in its column's type.
func rowsOf(array string, t model.FieldType, c *model.Column) string {
	return "unnest(" + array + "::" + paramType(t, c) + "[])" + cast(t, c)
}

// cast makes a sent value one of its column's type; "" if it is.
func cast(t model.FieldType, c *model.Column) string {
	if c == nil {
		return ""
	}
	sent := paramType(t, c)
	if sent == castType(c.Type) || sent == "text" && c.Type.Kind == model.ColVarchar {
		return ""
	}
	return "::" + castType(c.Type)
}
