package oracle

import (
	"github.com/idemgen/idemgen/internal/gen/model"
)

// unpack returns a record with the value that is packed in its own.
func (in *Interpreter) unpack(t *model.Topic, r *Record) (*Record, *fault) {
	if r.Value == nil || r.Plain {
		return r, nil
	}
	out := *r
	switch t.Payload.Encoding {
	case "json_string":
		root, err := parseJSON(r.Value, 1)
		switch {
		case err != nil:
			return nil, err
		case root.kind != stringNode:
			return nil, &fault{class: ClassDecode, detail: "must be a JSON string"}
		case root.bad != "":
			return nil, &fault{class: ClassDecode, detail: root.bad}
		}
		out.Value = []byte(root.text)
	case "confluent_json":
		if h, n := findHeader(r, "__value_schema_id"); n > 0 && h.Value != nil {
			if bad := n > 1 || !(len(h.Value) > 4 && h.Value[0] == 0 || len(h.Value) > 16 && h.Value[0] == 1); bad {
				return nil, &fault{class: ClassDecode, detail: "header __value_schema_id must name a schema"}
			}
			break
		}
		if len(r.Value) < 5 || r.Value[0] != 0 {
			return nil, &fault{class: ClassDecode, detail: "must begin with a zero byte and the number of a schema"}
		}
		out.Value = r.Value[5:]
	case "":
	default:
		if t.Payload.Messages.Packing == nil { // nobody has read its schema
			return r, nil
		}
		var err error
		if out.Value, err = t.Payload.Messages.Packing.Open(nil, r.Value); err != nil {
			return nil, &fault{class: ClassDecode, detail: "cannot be read: " + err.Error()}
		}
		if p, ok := t.Payload.Messages.Packing.(model.Unnamed); ok {
			out.unnamed = p.Unnamed(r.Value)
		}
	}
	return &out, nil
}
