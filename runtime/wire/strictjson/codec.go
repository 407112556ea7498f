package strictjson

import (
	"encoding/json"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Coded reads a value by Go code of the service: a method of what Codecs is. It gets the text of a
// string, and of any other value the JSON as it is written, in memory of its own. typ is the type
// of the spec, for errors.
func Coded[C, T any](s *Scanner, typ string, by func(C, []byte) (T, error)) (v T) {
	raw, start, ok := s.codedValue()
	if !ok {
		return v
	}
	v, reason := madeBy(s, typ, raw, by)
	s.check(start, reason)
	return v
}

// CodedText is [Coded] for a value that is not in the payload: the codec gets its bytes, whatever
// they are. It is the zero value if t is absent.
func CodedText[C, T any](s *Scanner, t wire.Text, typ string, by func(C, []byte) (T, error)) (v T) {
	raw := t.Raw()
	if raw == nil || s.Failure() != nil {
		return v
	}
	v, reason := madeBy(s, typ, raw, by)
	t.Refuse(reason)
	return v
}

// madeBy is wire.MadeByCodec that also checks JSON.
func madeBy[C, T any](s *Scanner, typ string, raw []byte, by func(C, []byte) (T, error)) (v T, reason string) {
	got, reason := wire.MadeByCodec(&s.Reader, s.Codecs, typ, raw, by)
	if doc, is := any(got).(json.RawMessage); is && reason == "" {
		of := Scanner{MaxDepth: s.MaxDepth}
		of.start(doc, false)
		of.JSON()
		of.end()
		if err := of.Failure(); err != nil {
			return v, "is decoded to JSON that " + err.Reason
		}
	}
	return got, reason
}

// codedValue passes over a value, and returns what a codec gets of it.
func (s *Scanner) codedValue() (raw []byte, start int, ok bool) {
	switch s.peek() {
	case '"':
		return s.stringValue(notString)
	case 0, 'n', 0xef:
		s.wrongKind(notJSON)
		return nil, 0, false
	}
	start = s.pos
	if raw = valueText(s); raw == nil {
		s.Failure().Path = s.pathTo(start, true, "") // names inside are the producer's
		return nil, 0, false
	}
	return raw, start, true
}

// valueText passes over a value of any kind and returns it as it is written.
func valueText(s *Scanner) []byte {
	s.peek()
	start := s.pos
	skip(s)
	if s.Failure() != nil {
		return nil
	}
	return s.data[start:s.pos:s.pos]
}
