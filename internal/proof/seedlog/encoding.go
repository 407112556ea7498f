package seedlog

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// anySchema is before JSON whose schema is not looked up: a zero byte and a number.
const anySchema = "\x00\x00\x00\x00\x01"

// Packed is the value of a record as producers of a topic send it; logs hold values as they are
// before.
func Packed(t *model.Topic, value []byte) []byte {
	switch t.Payload.Encoding {
	case "":
		return value
	case "json_string":
		if value != nil {
			value = []byte(Quote(string(value)))
		}
		return value
	case "confluent_json":
		if value != nil {
			value = append([]byte(anySchema), value...)
		}
		return value
	}
	return packed(t.Payload.Messages, value)
}

// packed is a message. What is none, as a case may hold, is sent as it is.
func packed(m *model.Messages, value []byte) []byte {
	if value == nil || m.Packing == nil {
		return value
	}
	message, err := m.Packing.Pack(value)
	if err != nil {
		return value
	}
	return message
}

// Unpacked is what is in a value of a topic. An error is about a value that has nothing in it.
func Unpacked(t *model.Topic, value []byte) ([]byte, error) {
	switch {
	case t.Payload.Encoding == "":
		return value, nil
	case t.Payload.Encoding == "json_string":
		var text string
		err := json.Unmarshal(value, &text)
		return []byte(text), err
	case t.Payload.Encoding == "confluent_json":
		text, framed := bytes.CutPrefix(value, []byte(anySchema))
		if !framed {
			return nil, errors.New("it does not name the schema of the log")
		}
		return text, nil
	case t.Payload.Messages.Packing == nil:
		return value, nil
	}
	return t.Payload.Messages.Packing.Open(nil, value)
}
