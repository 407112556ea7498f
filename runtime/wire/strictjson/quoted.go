package strictjson

import "github.com/idemgen/idemgen/runtime/wire"

// Quoted unpacks values that are one JSON string, whose text is the payload. Its zero value is
// ready for use. It is not safe for concurrent use.
type Quoted struct{ scanner Scanner }

// Open returns m with the value that is in its own, valid until the next Open. A record without a
// value is returned as it is. What is not one JSON string is a [*wire.DecodeError], and so is a
// text that UTF-8 cannot write, or with U+0000. Its place is one in the string; errors in the
// unpacked payload name a field and no place.
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
	return m.Unpacked(text), nil
}
