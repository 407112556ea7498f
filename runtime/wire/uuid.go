package wire

import (
	"encoding/hex"
	"errors"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// UUID is a 128-bit identifier. Its zero value is the nil UUID, a value like any other.
// pgx reads and writes it as uuid.
type UUID [16]byte

// ParseUUID reads the 36-character text of a UUID, in any case. Other forms, such as
// braces or no hyphens, are an error.
func ParseUUID(text string) (UUID, error) {
	u, err := read(text, notation.UUID)
	return u, err
}

// String returns the 36-character text in lower case.
func (u UUID) String() string {
	var b [36]byte
	return string(u.append(b[:0]))
}

// MarshalText returns the text of String; it never fails.
func (u UUID) MarshalText() ([]byte, error) { return u.append(nil), nil }

// UnmarshalText reads what [ParseUUID] reads.
func (u *UUID) UnmarshalText(text []byte) error { return unmarshal(u, text, ParseUUID) }

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
