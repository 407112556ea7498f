package oracle

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// unpack returns a record with the key and the value that are packed in its own.
func (in *Interpreter) unpack(t *model.Topic, r *Record) (*Record, *fault) {
	out := *r
	var bad *fault
	if t.RecordKey != nil && r.Key != nil {
		if out.Key, bad = unpack(&t.RecordKey.Packed, r, "__key_schema_id", r.Key); bad != nil {
			bad.path = "record key"
			return nil, bad
		}
	}
	if r.Value != nil && !r.Plain {
		if out.Value, bad = unpack(&t.Payload.Packed, r, "__value_schema_id", r.Value); bad != nil {
			return nil, bad
		}
		if m := t.Payload.Messages; m != nil && m.Packing != nil {
			out.why = m.Packing.Why(r.Value)
		}
	}
	return &out, nil
}

// unpack is what is packed in a value or a key, whose schema a header may name.
func unpack(p *model.Packed, r *Record, header string, packed []byte) ([]byte, *fault) {
	switch p.Encoding {
	case "json_string":
		root, err := parseJSON(packed, 1)
		switch {
		case err != nil:
			return nil, err
		case root.kind != stringNode:
			return nil, &fault{class: ClassDecode, detail: "must be a JSON string"}
		case root.bad != "":
			return nil, &fault{class: ClassDecode, detail: root.bad}
		}
		return []byte(root.text), nil
	case "confluent_json":
		if h, n := findHeader(r, header); n > 0 && h.Value != nil {
			if bad := n > 1 || !(len(h.Value) > 4 && h.Value[0] == 0 || len(h.Value) > 16 && h.Value[0] == 1); bad {
				return nil, &fault{class: ClassDecode, detail: "header " + header + " must name a schema"}
			}
			return packed, nil
		}
		if len(packed) < 5 || packed[0] != 0 {
			return nil, &fault{class: ClassDecode, detail: "must begin with a zero byte and the number of a schema"}
		}
		return packed[5:], nil
	case "", "binary":
		return packed, nil
	}
	if p.Messages.Packing == nil { // nobody has read its schema
		return packed, nil
	}
	text, err := p.Messages.Packing.Open(nil, packed)
	if err != nil {
		return nil, &fault{class: ClassDecode, detail: "cannot be read: " + err.Error()}
	}
	return text, nil
}

// binary reads a record key or a header that is a number, a UUID or bytes.
func (d *decoder) binary(t model.FieldType, raw []byte, at int, path string) value {
	size := map[model.Kind]int{model.Int32: 4, model.Int64: 8, model.UUID: 16}[t.Kind]
	switch {
	case t.Kind == model.Bytes:
		return raw
	case len(raw) != size:
		d.fail(at, path, fmt.Sprintf("has %d bytes, not %d", len(raw), size))
		return nil
	case t.Kind == model.Int32:
		return int64(int32(binary.BigEndian.Uint32(raw)))
	case t.Kind == model.Int64:
		return int64(binary.BigEndian.Uint64(raw))
	}
	h := hex.EncodeToString(raw)
	return d.text(t, h[:8]+"-"+h[8:12]+"-"+h[12:16]+"-"+h[16:20]+"-"+h[20:], at, path)
}

// asBinary is a text, as examples have it, in the bytes of a binary record key or header; a text
// that is none stays as it is.
func asBinary(kind model.Kind, text []byte) []byte {
	number, err := parseInteger(string(text), map[model.Kind]int{model.Int32: 32, model.Int64: 64}[kind])
	u, is := parseUUID(string(text))
	switch {
	case text == nil: // null
		return nil
	case kind == model.Int32 && err == nil:
		return binary.BigEndian.AppendUint32(nil, uint32(number))
	case kind == model.Int64 && err == nil:
		return binary.BigEndian.AppendUint64(nil, uint64(number))
	case kind == model.UUID && is:
		return u[:]
	case kind == model.Bytes:
		if raw, why := parseBase64(string(text)); why == "" {
			return raw.([]byte)
		}
	}
	return text
}
