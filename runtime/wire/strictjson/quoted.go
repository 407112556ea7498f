package strictjson

import "github.com/idemgen/idemgen/runtime/wire"

// Quoted unpacks record values that are a JSON string, whose text is the payload. Its zero value
// is ready for use. It is not safe for concurrent use.
type Quoted struct{ scanner Scanner }

// Open returns m with the unpacked payload as its value, valid until the next Open. A record
// without a value is returned unchanged. If the value is not one JSON string, or contains U+0000
// or a lone surrogate, Open returns a [*wire.DecodeError] with the offset in the value. Errors in
// the unpacked payload have a path, but no offset.
func (q *Quoted) Open(m *wire.Message) (*wire.Message, error) {
	if m.Value == nil {
		return m, nil
	}
	s := &q.scanner
	s.Borrow(m)
	text, _, _ := s.stringValue("must be a JSON string that holds the payload")
	s.end()
	if failure := s.Failure(); failure != nil {
		return nil, failure
	}
	return m.Unpacked(text, nil), nil
}
