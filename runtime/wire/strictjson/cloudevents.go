package strictjson

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/runtime/wire"
)

// CloudEvents opens the envelope of CloudEvents 1.0 as the Kafka protocol binding writes it. Its
// zero value is ready for use. It is not safe for concurrent use.
type CloudEvents struct {
	MaxDepth int // levels of objects and arrays in the data; 0 means 64

	scanner Scanner
}

const (
	contentType     = "content-type"
	attributePrefix = "ce_"
	eventMediaType  = "application/cloudevents"
)

// required are the attributes that every event has.
var required = [...]string{"ce_specversion", "ce_id", "ce_source", "ce_type"}

// Open returns an event as binary mode has it: its data is the value, attribute x is header ce_x.
// It is m itself, unless m is in structured mode, as its content-type says: the value is a JSON
// object then. A record without a value is returned as it is: it is no event, but a tombstone.
func (c *CloudEvents) Open(m *wire.Message) (*wire.Message, error) {
	if m.Value == nil {
		return m, nil
	}
	raw, err := m.OptHeader(contentType)
	if err != nil {
		return nil, err
	}
	media, _, _ := strings.Cut(string(raw), ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch {
	case !strings.HasPrefix(media, eventMediaType):
	case media == eventMediaType, media == eventMediaType+"+json":
		if m, err = c.structured(m); err != nil {
			return nil, err
		}
	case strings.HasPrefix(media, eventMediaType+"-batch"):
		return nil, &wire.DecodeError{Path: "header content-type", Reason: "says that the record holds several events: each needs a record of its own"}
	default:
		return nil, &wire.DecodeError{Path: "header content-type", Reason: "names a format of CloudEvents other than JSON"}
	}
	for _, name := range required {
		value, err := m.Header(name)
		switch {
		case err != nil:
			return nil, err
		case len(value) == 0:
			return nil, &wire.DecodeError{Path: "header " + name, Reason: "is empty"}
		case name == "ce_specversion" && string(value) != "1.0":
			return nil, &wire.DecodeError{Path: "header " + name, Reason: "must be 1.0"}
		}
	}
	return m, nil
}

// structured turns an event of structured mode into one of binary mode.
func (c *CloudEvents) structured(m *wire.Message) (*wire.Message, error) {
	event := *m
	event.Headers = slices.DeleteFunc(slices.Clone(m.Headers), func(h wire.Header) bool {
		return h.Name == contentType || strings.HasPrefix(h.Name, attributePrefix)
	})
	event.Value = []byte{}
	s := &c.scanner
	s.MaxDepth = c.MaxDepth
	if s.MaxDepth == 0 {
		s.MaxDepth = defaultDepth
	}
	s.MaxDepth++ // the envelope
	s.Borrow(m)
	s.text = nil // headers point into it
	var data, base64Data bool
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "data":
			s.Once(&data)
			event.Value = valueText(s)
		case "data_base64":
			s.Once(&base64Data)
			event.Value = decodedText(s)
		default:
			if h, ok := attribute(s); ok {
				event.Headers = append(event.Headers, h)
			}
		}
	}
	if data && base64Data {
		s.fail("has both data and data_base64")
	}
	s.end()
	if failure := s.Failure(); failure != nil {
		failure.Path = "the payload" // what it holds may be named by the producer
		return nil, failure
	}
	return &event, nil
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

// decodedText reads bytes in base64, into memory of their own.
func decodedText(s *Scanner) []byte {
	raw, start, ok := s.stringValue("must hold base64 in a string as data_base64")
	if !ok {
		return nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(string(raw))
	if err != nil || bytes.ContainsAny(raw, "\r\n") {
		s.failAt(start, "must hold base64 with padding as data_base64")
	}
	return data
}

// attribute reads the value of the current member as the header that it is in binary mode; false
// if it is null. What no text may hold is refused where the header is read.
func attribute(s *Scanner) (h wire.Header, ok bool) {
	h.Name = attributePrefix + s.Name()
	if s.Name() == "datacontenttype" {
		h.Name = contentType
	}
	switch s.peek() {
	case '"':
		h.Value, _ = s.str()
	case '{', '[':
		s.fail("has an attribute that is no text, number, true or false")
	case 'n':
		s.literal("null")
		return h, false
	default:
		h.Value = valueText(s)
	}
	return h, true
}
