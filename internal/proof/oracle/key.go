package oracle

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// key is the identity of the event: its space and typed, length-prefixed parts. It is "" if the
// event's offset identifies it.
func (e *event) key() (string, *fault) {
	def := e.def.Key
	if def == nil || def.Offset {
		return "", nil
	}
	key := string(def.Space[:])
	for _, p := range def.Parts {
		v, f := e.keyPart(p)
		if f != nil {
			return "", f
		}
		key += v
	}
	return key, nil
}

// keyPart is one part as text; a header is no field of the same text.
func (e *event) keyPart(p model.KeySource) (string, *fault) {
	refuse := func(path, detail string) (string, *fault) {
		return "", &fault{class: ClassKey, path: path, detail: detail}
	}
	if p.Field != nil {
		v := e.values[p.Field]
		if v == nil || isEmpty(v) {
			return refuse(fieldPath(p.Field), "a part of the idempotency key is missing or empty")
		}
		return content(v), nil
	}
	path := "header " + p.Header
	h, n := findHeader(e.record, p.Header)
	switch {
	case n == 0:
		return refuse(path, "a part of the idempotency key is missing")
	case n > 1:
		return refuse(path, "appears "+strconv.Itoa(n)+" times")
	case len(h.Value) == 0:
		return refuse(path, "a part of the idempotency key is missing or empty")
	}
	v, why := parseText(model.FieldType{Kind: model.String}, string(h.Value))
	if why != "" {
		return refuse(path, why)
	}
	return "header " + content(v), nil
}

func isEmpty(v value) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []byte:
		return len(v) == 0
	}
	return false
}

// content is what two copies of an event must share: the values of the compared fields in name
// order, absent ones left out.
func (e *event) content() string {
	var b strings.Builder
	for _, f := range e.def.Key.Compared {
		v := e.values[f]
		if _, left := v.(unsent); !left && (v != nil || f.Patch) {
			b.WriteString(content(f.Name))
			b.WriteString(content(compared(v)))
		}
	}
	return b.String()
}

func printableKey(key string) string {
	if key == "" {
		return ""
	}
	return hex.EncodeToString([]byte(key[:16])) + " " + strconv.QuoteToASCII(key[16:])
}
