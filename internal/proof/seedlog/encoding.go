package seedlog

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// anySchema is before JSON whose schema is not looked up: a zero byte and a number.
const anySchema = "\x00\x00\x00\x00\x01"

// Packed are the key and the value of a record as producers of a topic send them; logs hold them
// as they are before. nil is none.
func Packed(t *model.Topic, key, value []byte) (sentKey, sentValue []byte) {
	if k := t.RecordKey; k != nil {
		if k.Encoding == "binary" {
			key = asBinary(k.Parts[0].Type.Kind, key)
		}
		key = pack(&k.Packed, key)
	}
	return key, pack(&t.Payload.Packed, value)
}

// pack packs JSON. What is no message, as a case may hold, is sent as it is.
func pack(p *model.Packed, object []byte) []byte {
	switch {
	case object == nil:
		return nil
	case p.Encoding == "json_string":
		return []byte(Quote(string(object)))
	case p.Encoding == "confluent_json":
		return append([]byte(anySchema), object...)
	case p.Messages == nil || p.Messages.Packing == nil:
		return object
	}
	message, err := p.Messages.Packing.Pack(object)
	if err != nil {
		return object
	}
	return message
}

// PackedHeader is the value of a header as producers of a topic send it.
func PackedHeader(t *model.Topic, name string, value []byte) []byte {
	return asBinary(t.BinaryHeader(name), value)
}

// asBinary is a text as a binary record key or header. A text that is none is sent as it is.
func asBinary(kind model.Kind, text []byte) []byte {
	number, bad := strconv.ParseInt(string(text), 10, 64)
	switch raw, err := hex.DecodeString(strings.ReplaceAll(string(text), "-", "")); {
	case text == nil: // null
		return nil
	case kind == model.Int32 && bad == nil:
		return binary.BigEndian.AppendUint32(nil, uint32(number))
	case kind == model.Int64 && bad == nil:
		return binary.BigEndian.AppendUint64(nil, uint64(number))
	case kind == model.UUID && err == nil:
		return raw
	case kind == model.Bytes:
		if raw, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
			return raw
		}
	}
	return text
}

// Unpacked are a key and a value of a topic as Go code receives them. An error is about one that
// has nothing in it.
func Unpacked(t *model.Topic, key, value []byte) (ownKey, ownValue []byte, err error) {
	if t.RecordKey != nil {
		if key, err = unpack(&t.RecordKey.Packed, key); err != nil {
			return nil, nil, err
		}
	}
	value, err = unpack(&t.Payload.Packed, value)
	return key, value, err
}

func unpack(p *model.Packed, packed []byte) ([]byte, error) {
	switch {
	case packed == nil:
		return nil, nil
	case p.Encoding == "json_string":
		var text string
		err := json.Unmarshal(packed, &text)
		return []byte(text), err
	case p.Encoding == "confluent_json":
		text, framed := bytes.CutPrefix(packed, []byte(anySchema))
		if !framed {
			return nil, errors.New("it does not name the schema of the log")
		}
		return text, nil
	case p.Messages == nil || p.Messages.Packing == nil:
		return packed, nil
	}
	return p.Messages.Packing.Open(nil, packed)
}
