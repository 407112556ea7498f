package notation

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
)

var strictBase64 = base64.StdEncoding.Strict()

// Bytes reads standard base64 with padding. It appends to arena, which it returns grown, and
// returns what it appended, which is not nil unless there is a reason.
func Bytes(arena, raw []byte) (data, grown []byte, reason string) {
	if len(raw) == 0 {
		return []byte{}, arena, ""
	}
	from := len(arena)
	grown, err := strictBase64.AppendDecode(arena, raw)
	if err != nil || bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		return nil, arena, "must be base64 with padding"
	}
	return grown[from:len(grown):len(grown)], grown, ""
}

// Hex reads pairs of hexadecimal digits, in any case. It returns what Bytes returns.
func Hex(arena, raw []byte) (data, grown []byte, reason string) {
	if len(raw) == 0 {
		return []byte{}, arena, ""
	}
	from := len(arena)
	grown, err := hex.AppendDecode(arena, raw)
	if err != nil {
		return nil, arena, "must be pairs of hexadecimal digits"
	}
	return grown[from:len(grown):len(grown)], grown, ""
}

var strictBase64URL = base64.RawURLEncoding.Strict()

// Base64URL reads base64 in the alphabet of URLs, with padding or without. It returns what Bytes
// returns.
func Base64URL(arena, raw []byte) (data, grown []byte, reason string) {
	if len(raw)%4 == 0 {
		raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("=")), []byte("="))
	}
	if len(raw) == 0 {
		return []byte{}, arena, ""
	}
	from := len(arena)
	grown, err := strictBase64URL.AppendDecode(arena, raw)
	if err != nil || bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		return nil, arena, "must be base64 in the alphabet of URLs"
	}
	return grown[from:len(grown):len(grown)], grown, ""
}
