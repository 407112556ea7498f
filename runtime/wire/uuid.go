package wire

import (
	"encoding/hex"
	"errors"

	"github.com/jackc/pgx/v5/pgtype"
)

// UUID is a 128-bit identifier. Its zero value is the nil UUID, a value like any other.
// pgx reads and writes it as uuid.
type UUID [16]byte

// ParseUUID reads the 36-character text of a UUID, in any case. Other forms, such as
// braces or no hyphens, are an error.
func ParseUUID(text string) (UUID, error) {
	u, reason := parseUUID([]byte(text))
	if reason != "" {
		return UUID{}, errors.New("idem: the text " + reason)
	}
	return u, nil
}

// String returns the 36-character text in lower case.
func (u UUID) String() string {
	var b [36]byte
	return string(u.append(b[:0]))
}

// MarshalText returns the text of String; it never fails.
func (u UUID) MarshalText() ([]byte, error) { return u.append(nil), nil }

// UnmarshalText reads what [ParseUUID] reads.
func (u *UUID) UnmarshalText(text []byte) error {
	v, err := ParseUUID(string(text))
	if err == nil {
		*u = v
	}
	return err
}

// UUIDValue lets pgx write the UUID.
func (u UUID) UUIDValue() (pgtype.UUID, error) { return pgtype.UUID{Bytes: u, Valid: true}, nil }

// ScanUUID lets pgx read into the UUID; NULL is an error.
func (u *UUID) ScanUUID(v pgtype.UUID) error {
	if !v.Valid {
		return errors.New("idem: cannot scan NULL into a UUID; scan into a *UUID")
	}
	*u = v.Bytes
	return nil
}

func (u UUID) append(b []byte) []byte {
	b = hex.AppendEncode(b, u[:4])
	b = hex.AppendEncode(append(b, '-'), u[4:6])
	b = hex.AppendEncode(append(b, '-'), u[6:8])
	b = hex.AppendEncode(append(b, '-'), u[8:10])
	return hex.AppendEncode(append(b, '-'), u[10:])
}

// hexAt says where the two digits of each byte stand in the text of a UUID.
var hexAt = [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

// parseUUID reads the 36-character form. The reason is "" if it is one.
func parseUUID(text []byte) (u UUID, reason string) {
	const refused = "must be a UUID of 36 characters"
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return UUID{}, refused
	}
	var all byte
	for i, at := range hexAt {
		hi, lo := hexDigit[text[at]], hexDigit[text[at+1]]
		all |= hi | lo
		u[i] = hi<<4 | lo
	}
	if all > 15 {
		return UUID{}, refused
	}
	return u, ""
}

// hexDigit is the value of each hexadecimal digit, 255 for any other byte.
var hexDigit = func() (t [256]byte) {
	for c := range t {
		t[c] = 255
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()
