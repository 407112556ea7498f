package strictjson

import (
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// String reads a string.
func (s *Scanner) String() string {
	raw, _, _ := s.stringValue(notString)
	return notation.Borrow(raw)
}

// UUID reads a UUID in its 36-character form, in upper or lower case.
func (s *Scanner) UUID() wire.UUID {
	raw, start, ok := s.stringValue("must be a UUID in a string")
	if !ok {
		return wire.UUID{}
	}
	u, reason := notation.UUID(raw)
	s.check(start, reason)
	return wire.UUID(u)
}

// Bytes reads standard base64 with padding, in a string. The result is nil only after an error.
func (s *Scanner) Bytes() []byte {
	raw, start, ok := s.stringValue("must be base64 in a string")
	if !ok {
		return nil
	}
	data, grown, reason := notation.Bytes(s.text, raw)
	s.text = grown
	s.check(start, reason)
	return data
}

// Enum reads a string that must be one of texts, and returns that element.
func Enum[T ~string](s *Scanner, texts []T) T {
	i, ok := enumOf(s, texts)
	if !ok {
		return ""
	}
	return texts[i]
}

// OptEnum is like [Enum], but also accepts null, for which it returns nil.
func OptEnum[T ~string](s *Scanner, texts []T) *T {
	if s.Null() {
		return nil
	}
	i, ok := enumOf(s, texts)
	if !ok {
		return nil
	}
	return wire.KeepEnum(&s.Reader, texts, i)
}

// enumOf reads a string and finds which of texts it is.
func enumOf[T ~string](s *Scanner, texts []T) (i int, ok bool) {
	raw, start, ok := s.stringValue(notString)
	if !ok {
		return 0, false
	}
	i, reason := notation.Enum(raw, texts)
	s.check(start, reason)
	return i, reason == ""
}

// Opt reads a value with read, a method of s, or null, for which it returns nil: strictjson.Opt(s,
// s.String).
func Opt[T any](s *Scanner, read func() T) *T {
	if s.Null() {
		return nil
	}
	return wire.Keep(&s.Reader, read())
}

// OptSlice is like [Opt], for types whose nil value means null: bytes and JSON.
func OptSlice[S ~[]byte](s *Scanner, read func() S) S {
	if s.Null() {
		return nil
	}
	return read()
}
