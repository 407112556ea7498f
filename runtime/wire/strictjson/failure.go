package strictjson

import (
	"bytes"
	"strconv"
)

const (
	notJSON   = "is not valid JSON"
	cutShort  = "ends too early"
	notString = "must be a string"
)

// fail records an error in the value at pos, unless there is one already, and moves to the end of
// the document, where every further read fails.
func (s *lexer) fail(reason string) { s.failAt(s.pos, reason) }

func (s *lexer) failAt(pos int, reason string) {
	if why := s.why[pos]; why != "" {
		reason = why
	}
	if s.Failure() == nil {
		s.refuse(pos, s.pathTo(pos, true, ""), reason)
	}
}

// failMissing records that the object that ends before pos lacks a member.
func (s *lexer) failMissing(name string) {
	if s.Failure() == nil {
		pos := max(s.pos-1, 0)
		s.refuse(pos, s.pathTo(pos, false, name), "is missing")
	}
}

func (s *lexer) refuse(at int, path, reason string) {
	if s.inKey || s.unpacked {
		at = 0
	}
	s.Fail(path, at, reason)
	s.pos = len(s.data)
}

// broken records that the object or array is not valid JSON at pos.
func (s *lexer) broken() {
	reason := notJSON
	if s.pos == len(s.data) {
		reason = cutShort
	}
	if s.Failure() == nil {
		s.refuse(s.pos, s.pathTo(s.pos, false, ""), reason)
	}
}

// wrongKind rejects the value at pos because it has the wrong type. There are separate messages
// for null, the end of the document, and text that is not a value.
func (s *lexer) wrongKind(refused string) {
	switch c := s.peek(); {
	case s.Failure() != nil:
	case s.pos == len(s.data) && s.depth == 0:
		s.fail("is empty")
	case s.pos == len(s.data):
		s.fail(cutShort)
	case s.pos == 0 && bytes.HasPrefix(s.data, []byte("\ufeff")):
		s.fail("starts with a byte order mark")
	case bytes.HasPrefix(s.data[s.pos:], []byte("null")):
		s.fail("must not be null")
	case bytes.IndexByte([]byte(`{["tf-0123456789`), c) < 0:
		s.fail(notJSON)
	default:
		s.fail(refused)
	}
}

// level is an open object or array that contains a value.
type level struct {
	index int    // of the element; -1 in an object
	name  []byte // of the member whose value follows; nil before its colon
}

// pathTo returns the path of the value at pos. It reads the document again up to pos, so decoding
// need not track paths. If self is false, it returns the path of the object or array that contains
// the value, because the value's own name might be data. missing, if not "", is appended as the
// name of a member.
func (s *lexer) pathTo(pos int, self bool, missing string) string {
	levels := levelsAt(s.data[:pos])
	var path []byte
	for i, l := range levels {
		switch {
		case i == len(levels)-1 && !self && l.index < 0:
		case l.index >= 0:
			path = append(strconv.AppendInt(append(path, '['), int64(l.index), 10), ']')
		case l.name != nil:
			path = appendMember(path, plainName(l.name))
		}
	}
	if missing != "" {
		path = appendMember(path, []byte(missing))
	}
	switch {
	case s.inKey && len(path) > 0 && path[0] != '[':
		return "record key." + string(path)
	case s.inKey:
		return "record key" + string(path)
	case len(path) == 0 && s.unpacked:
		return "the unpacked payload"
	case len(path) == 0:
		return "the payload"
	}
	return string(path)
}

func appendMember(path, name []byte) []byte {
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}

// levelsAt returns the objects and arrays that are open at the end of data, the beginning of a
// document.
func levelsAt(data []byte) (open []level) {
	var text []byte // the last string
	for i := 0; i < len(data); i++ {
		top := len(open) - 1
		switch data[i] {
		case '{':
			open = append(open, level{index: -1})
		case '[':
			open = append(open, level{})
		case '}', ']':
			open = open[:max(top, 0)]
		case '"':
			from := i + 1
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			text = data[from:min(i, len(data))]
		case ':':
			if top >= 0 {
				open[top].name = text
			}
		case ',':
			if top >= 0 && open[top].index >= 0 {
				open[top].index++
			} else if top >= 0 {
				open[top].name = nil
			}
		}
	}
	return open
}

// plainName returns a member's name with its escapes decoded.
func plainName(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	quoted := append(append([]byte{'"'}, raw...), '"')
	text, _ := (&lexer{data: quoted}).str()
	return text
}
