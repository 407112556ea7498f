package survey

import (
	"bytes"
	"encoding/json"

	"github.com/idemgen/idemgen/internal/asjson"
	stored "github.com/idemgen/idemgen/internal/text"
)

// What is examined of a value, and of all. The first two are those of the runtime.
const (
	longest     = 1 << 20
	mostMembers = 256
	mostNames   = 10_000
)

// member is a member of an object.
type member struct {
	name string
	raw  json.RawMessage
}

// open tells how a value is written, and takes the members of an object from it.
func open(value []byte) (form Form, members []member, more bool) {
	framed := len(value) > 5 && value[0] == 0
	switch {
	case value == nil:
		return Tombstone, nil, false
	case len(value) > longest:
		return TooLarge, nil, false
	}
	form, body := JSONObject, value
	if framed {
		form, body = JSONFramed, value[5:]
	}
	switch problem := check(body); {
	case framed && problem != "":
		return Framed, nil, false
	case problem != "":
		return problem, nil, false
	}
	var packed string
	if json.Unmarshal(body, &packed) == nil && !framed {
		form, body = JSONText, []byte(packed)
		if check(body) != "" {
			return OtherJSON, nil, false
		}
	}
	if body = bytes.TrimSpace(body); body[0] != '{' {
		return OtherJSON, nil, false
	}
	members, more = membersOf(body)
	return form, members, more
}

// check returns "" for JSON that the runtime reads.
func check(body []byte) Form {
	switch {
	case stored.Flaw(string(body)) != "":
		return Binary
	case !json.Valid(body):
		return Invalid
	case asjson.Depth(body) > asjson.MostDepth:
		return TooDeep
	}
	return ""
}

// membersOf returns the members of a valid object, up to a number.
func membersOf(object []byte) (members []member, more bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	for d.More() {
		if len(members) == mostMembers {
			return members, true
		}
		name, err := d.Token()
		if err != nil {
			return members, true
		}
		m := member{name: name.(string)}
		if d.Decode(&m.raw) != nil {
			return members, true
		}
		members = append(members, m)
	}
	return members, false
}
