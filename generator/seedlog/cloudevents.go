package seedlog

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// required are the attributes that every CloudEvent has, beside specversion, with values for those
// that the spec does not read.
func required(number, event string) [][2]string {
	return [][2]string{{"ce_id", number}, {"ce_source", "/generated/log"}, {"ce_type", event}, {"content-type", "application/json"}}
}

// mixed puts about half of a log's CloudEvents into structured mode. Which ones depends on what
// they hold.
func mixed(log []Record) []Record {
	for i, r := range log {
		if of := hash(string(r.Value) + string(r.Key) + r.Event); r.Value != nil && of%2 == 0 {
			log[i] = structured(r, of%10 == 0)
		}
	}
	return log
}

// structured is a CloudEvent as one JSON document, with its data in base64 or where that is no
// JSON.
func structured(r Record, inBase64 bool) Record {
	root := &tree{object: true}
	headers := []Header{{"content-type", []byte("application/cloudevents+json; charset=utf-8")}}
	for _, h := range r.Headers {
		attribute, ok := strings.CutPrefix(h.Name, "ce_")
		switch {
		case ok:
			root.put([]string{attribute}, quote(string(h.Value)))
		case h.Name == "content-type":
			root.put([]string{"datacontenttype"}, quote(string(h.Value)))
		default:
			headers = append(headers, h)
		}
	}
	if inBase64 || !json.Valid(r.Value) {
		root.put([]string{"data_base64"}, quote(base64.StdEncoding.EncodeToString(r.Value)))
	} else {
		root.put([]string{"data"}, string(r.Value))
	}
	r.Headers, r.Value = headers, []byte(root.String())
	return r
}
