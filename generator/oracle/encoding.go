package oracle

import (
	"bytes"
	"compress/gzip"
	"io"

	"github.com/idemgen/idemgen/generator/model"
)

// unpack returns a record with the value that is packed in its own. What gzip unpacks to is never
// read further than to what is too large.
func (in *Interpreter) unpack(t *model.Topic, r *Record) (*Record, *fault) {
	if r.Value == nil || r.plain {
		return r, nil
	}
	out := *r
	switch t.Payload.Encoding {
	case "gzip":
		var why string
		if out.Value, why = in.gunzip(r.Value); why != "" {
			return nil, &fault{class: ClassDecode, detail: why}
		}
		if in.tooLarge(&out) {
			return nil, &fault{class: ClassTooLarge, detail: "unpacked, it is longer than max_payload"}
		}
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
	}
	return &out, nil
}

// gunzip returns what the one member of a gzip file holds, but not much more than max_payload of
// it.
func (in *Interpreter) gunzip(packed []byte) (data []byte, why string) {
	file := bytes.NewReader(packed)
	member, err := gzip.NewReader(file)
	if err != nil {
		return nil, "is not gzip"
	}
	member.Multistream(false)
	var from io.Reader = member
	if most := in.service.Limits.MaxPayload; most > 0 {
		from = io.LimitReader(member, most+1)
	}
	data, err = io.ReadAll(from)
	switch {
	case err != nil:
		return nil, "is damaged or cut off"
	case in.tooLarge(&Record{Value: data}):
		return data, ""
	case file.Len() > 0:
		return nil, "has data behind its gzip member"
	}
	return data, ""
}
