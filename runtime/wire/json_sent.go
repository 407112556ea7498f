package wire

import (
	"encoding/base64"
	"encoding/hex"
	"time"
)

// AppendUnix appends how many units passed since 1970, as a number.
func AppendUnix(b []byte, v time.Time, unit time.Duration) []byte {
	switch unit {
	case time.Second:
		return AppendInt(b, v.Unix())
	case time.Millisecond:
		return AppendInt(b, v.UnixMilli())
	case time.Microsecond:
		return AppendInt(b, v.UnixMicro())
	}
	return AppendInt(b, v.UnixNano())
}

// AppendDays appends how many days passed since 1970-01-01, as a number.
func AppendDays(b []byte, v Date) []byte { return AppendInt(b, int64(v)) }

// AppendBase64URL appends v in base64 for URLs, without padding, as a JSON string.
func AppendBase64URL(b, v []byte) []byte {
	return append(base64.RawURLEncoding.AppendEncode(append(b, '"'), v), '"')
}

// AppendHex appends v in hexadecimal as a JSON string.
func AppendHex(b, v []byte) []byte { return append(hex.AppendEncode(append(b, '"'), v), '"') }

// SentText is a JSON string or number, without quotes: as a record key or a header holds it.
func SentText(json []byte) string {
	if n := len(json); n > 1 && json[0] == '"' {
		json = json[1 : n-1]
	}
	return string(json)
}

// Wide is an optional int32 as an int64.
func Wide(v *int32) *int64 {
	if v == nil {
		return nil
	}
	return new(int64(*v))
}

// NotNil is v, which is empty where it is nil, and so is no null.
func NotNil[S ~[]E, E any](v S) S {
	if v == nil {
		return S{}
	}
	return v
}

// NotNilMap is [NotNil] for a map.
func NotNilMap[M ~map[string]E, E any](v M) M {
	if v == nil {
		return M{}
	}
	return v
}
