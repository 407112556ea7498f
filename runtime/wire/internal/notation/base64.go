package notation

import (
	"bytes"
	"encoding/base64"
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
