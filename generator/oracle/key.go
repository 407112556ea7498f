package oracle

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// key is the identity of the event: its space and typed, length-prefixed parts. It is
// empty if the record's offset identifies it.
func (e *event) key() (string, *fault) {
	def := e.def.Key
	if def == nil || def.Offset {
		return "", nil
	}
	parts := string(def.Space[:])
	for _, p := range def.Parts {
		v, path, f := e.keySource(p)
		switch {
		case f != nil:
			return "", f
		case v == nil:
			return "", &fault{class: ClassKey, path: path, detail: "a part of the idempotency key is missing"}
		case isEmpty(v):
			return "", &fault{class: ClassKey, path: path, detail: "a part of the idempotency key is empty"}
		}
		parts += content(v)
	}
	return parts, nil
}

func (e *event) keySource(p model.KeySource) (v value, path string, f *fault) {
	if p.Field != nil {
		return e.values[p.Field], fieldPath(p.Field), nil
	}
	path = "header " + p.Header
	h, n := findHeader(e.record, p.Header)
	switch {
	case n > 1:
		return nil, path, &fault{class: ClassKey, path: path, detail: "appears " + strconv.Itoa(n) + " times"}
	case n == 0 || h.Value == nil:
		return nil, path, nil
	}
	v, why := parseText(model.FieldType{Kind: model.String}, string(h.Value))
	if why != "" {
		return nil, path, &fault{class: ClassKey, path: path, detail: why}
	}
	return v, path, nil
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

// content is what two copies of an event must share: the values of its payload and
// header fields in name order, absent ones left out.
func (e *event) content() string {
	fields := slices.Clone(e.def.Fields)
	slices.SortFunc(fields, func(a, b *model.Field) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	for _, f := range fields {
		declared := f.Source.Kind != model.FromRecord // one key for two record keys is a mistake, never a copy
		if v := e.values[f]; declared && v != nil {
			b.WriteString(content(f.Name))
			b.WriteString(content(v))
		}
	}
	return b.String()
}

func printableKey(key string) string {
	if len(key) < 16 {
		return ""
	}
	return hex.EncodeToString([]byte(key[:16])) + " " + strconv.QuoteToASCII(key[16:])
}
