package strictjson

import "github.com/idemgen/idemgen/runtime/wire"

const markedValue = "contains the marker of absent values, but the field is not a patch"

// Patch reads the value of a field that a record may omit with read, a method of s. The text
// AbsentMarker means that the record omits the field.
func Patch[T any](s *Scanner, read func() T) (p wire.Patch[T]) {
	if !marked(s) {
		p.Value, p.State = read(), wire.PatchValue
	}
	return p
}

// OptPatch is like [Patch], for a field that may be null.
func OptPatch[T any](s *Scanner, read func() T) (p wire.Patch[T]) {
	if s.Null() {
		p.State = wire.PatchNull
		return p
	}
	return Patch(s, read)
}

// Patches sets state to what the next value, an object or a list, does. If it returns true, the
// caller must read the value.
func Patches(s *Scanner, state *wire.PatchState) bool {
	if marked(s) {
		return false
	}
	*state = wire.PatchValue
	return true
}

// OptPatches is like [Patches], for a field that may be null.
func OptPatches(s *Scanner, state *wire.PatchState) bool {
	if s.Null() {
		*state = wire.PatchNull
		return false
	}
	return Patches(s, state)
}

// marked skips the marker of absent values, and reports whether there was one.
func marked(s *Scanner) bool {
	if s.marker == "" || s.peek() != '"' {
		return false
	}
	start := s.pos
	raw, ok := s.str()
	if ok && string(raw) == s.marker {
		return true
	}
	s.Seek(start)
	return false
}

// isMarker reports whether the string between start and pos is the marker of absent values.
func (s *lexer) isMarker(start int) bool {
	if s.marker == "" || s.data[start] != '"' {
		return false
	}
	raw, _ := (&lexer{data: s.data[start:s.pos]}).str()
	return string(raw) == s.marker
}
