package wire

import (
	"encoding/base64"
	"strconv"
	"time"
)

// AppendString appends v, which must be valid UTF-8, as a JSON string.
func AppendString(b []byte, v string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	plain := 0 // start of what needs no escape
	for i := range len(v) {
		c := v[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, v[plain:i]...)
		plain = i + 1
		if c < ' ' {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			b = append(b, '\\', c)
		}
	}
	return append(append(b, v[plain:]...), '"')
}

// AppendUUID appends the text of v as a JSON string.
func AppendUUID(b []byte, v UUID) []byte { return append(v.append(append(b, '"')), '"') }

// AppendBool appends true or false.
func AppendBool(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// AppendInt appends an integer.
func AppendInt(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) }

// AppendFloat appends the shortest number that reads back as v, which must be finite.
func AppendFloat(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'g', -1, 64) }

// AppendDecimal appends the digits of v as a JSON number.
func AppendDecimal(b []byte, v Decimal) []byte { return append(b, v.String()...) }

// AppendTime appends v in RFC 3339, in UTC, to microseconds without trailing zeros, as a
// JSON string.
func AppendTime(b []byte, v time.Time) []byte {
	return append(v.UTC().AppendFormat(append(b, '"'), "2006-01-02T15:04:05.999999Z"), '"')
}

// AppendLocalTime appends v as a JSON string.
func AppendLocalTime(b []byte, v LocalTime) []byte { return append(v.append(append(b, '"')), '"') }

// AppendDate appends v as a JSON string.
func AppendDate(b []byte, v Date) []byte { return append(v.append(append(b, '"')), '"') }

// AppendBytes appends v in standard base64 as a JSON string.
func AppendBytes(b, v []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), v), '"')
}

// AppendRaw appends v, which must be JSON, as it is.
func AppendRaw(b, v []byte) []byte { return append(b, v...) }

// AppendNull appends null.
func AppendNull(b []byte) []byte { return append(b, "null"...) }
