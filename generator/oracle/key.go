package oracle

import (
	"cmp"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// keys are the identities of the event, each its space and typed, length-prefixed parts:
// those by former sources in spec order, then its own. It has none if its offset identifies
// it.
func (e *event) keys() ([]string, *fault) {
	def := e.def.Key
	if def == nil || def.Offset {
		return nil, nil
	}
	own, f := e.key(def.Space, def.Parts)
	if f != nil && !(def.OffsetIfMissing && f.noHeader) {
		return nil, f
	}
	var keys []string
	for _, former := range def.Former {
		if key, f := e.key(former.Space, former.Parts); f == nil {
			keys = append(keys, key)
		}
	}
	if f == nil {
		keys = append(keys, own)
	}
	return keys, nil
}

// key is the identity by one source. Where a header may be missing, any other fault counts
// before that.
func (e *event) key(space [16]byte, source []model.KeySource) (key string, missing *fault) {
	key = string(space[:])
	for _, p := range source {
		v, f := e.keyPart(p)
		switch {
		case f != nil && !f.noHeader && (missing == nil || e.def.Key.OffsetIfMissing):
			return "", f
		case f != nil && missing == nil:
			missing = f
		}
		key += v
	}
	return key, missing
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
		return "", &fault{class: ClassKey, path: path, detail: "a part of the idempotency key is missing", noHeader: true}
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

// content is what two copies of an event must share: its name, where that counts, and the
// values of the compared fields in name order, absent ones left out.
func (e *event) content() string {
	var b strings.Builder
	if e.def.Key.CompareName {
		b.WriteString("event " + content(cmp.Or(e.def.Doc.RenamedFrom, e.def.Name)))
	}
	for _, f := range e.def.Key.Compared {
		if v := e.values[f]; v != nil {
			b.WriteString(content(f.Name))
			b.WriteString(content(v))
		}
	}
	return b.String()
}

// compares reports whether a known key with other content is a conflict.
func (e *event) compares() bool { return len(e.def.Key.Compared) > 0 || e.def.Key.CompareName }

func printableKey(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	key := keys[len(keys)-1]
	return hex.EncodeToString([]byte(key[:16])) + " " + strconv.QuoteToASCII(key[16:])
}
