package oracle

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// open returns a record of CloudEvents as binary mode has it: the data is the value, and attribute
// x is header ce_x.
func (in *Interpreter) open(r *Record) (*Record, *fault) {
	if r.Value == nil {
		return r, nil // a tombstone
	}
	refuse := func(path, detail string) (*Record, *fault) {
		return nil, &fault{class: ClassDecode, path: path, detail: detail}
	}
	const kind = "header content-type"
	h, n := findHeader(r, "content-type")
	if n > 1 {
		return refuse(kind, "appears "+strconv.Itoa(n)+" times")
	}
	media := strings.ToLower(strings.TrimSpace(strings.Split(string(h.Value), ";")[0]))
	if strings.HasPrefix(media, "application/cloudevents") {
		if media != "application/cloudevents" && media != "application/cloudevents+json" {
			return refuse(kind, "is not one event in JSON")
		}
		var why string
		if r, why = in.unwrap(r); why != "" {
			return refuse("", why)
		}
	}
	for _, name := range []string{"ce_specversion", "ce_id", "ce_source", "ce_type"} {
		h, n := findHeader(r, name)
		switch {
		case n != 1 || h.Value == nil:
			return refuse("header "+name, "must be there once")
		case len(h.Value) == 0:
			return refuse("header "+name, "is empty")
		case name == "ce_specversion" && string(h.Value) != "1.0":
			return refuse("header "+name, "must be 1.0")
		}
	}
	return r, nil
}

// unwrap takes an event of structured mode apart; why says why it is none.
func (in *Interpreter) unwrap(r *Record) (event *Record, why string) {
	root, err := parseJSON(r.Value, in.service.Limits.MaxDepth+1)
	switch {
	case err != nil:
		return nil, err.detail
	case root.kind != objectNode:
		return nil, "must be an object"
	}
	out := *r
	out.Headers, out.Value = nil, []byte{}
	for _, h := range r.Headers {
		if h.Name != "content-type" && !strings.HasPrefix(h.Name, "ce_") {
			out.Headers = append(out.Headers, h)
		}
	}
	seen := 0
	for _, m := range root.members {
		name := "ce_" + m.name
		if m.name == "datacontenttype" {
			name = "content-type"
		}
		switch {
		case m.name == "data":
			seen++
			out.Value = r.Value[m.node.start:m.node.end]
		case m.name == "data_base64":
			seen++
			raw, err := base64.StdEncoding.Strict().DecodeString(m.node.text)
			if m.node.kind != stringNode || m.node.bad != "" || err != nil || strings.ContainsAny(m.node.text, "\r\n") {
				return nil, "data_base64 must be base64"
			}
			out.Value = append([]byte{}, raw...)
		case m.node.kind == objectNode || m.node.kind == arrayNode:
			return nil, "an attribute must be a text, a number, true or false"
		case m.node.kind != nullNode:
			out.Headers = append(out.Headers, Header{name, attributeText(m.node)})
		}
	}
	if seen > 1 {
		return nil, "has its data twice"
	}
	return &out, ""
}

// attributeText is an attribute as text; what no text may hold stays refused.
func attributeText(n *node) []byte {
	if n.bad != "" {
		return []byte{0}
	}
	return []byte(n.text)
}
