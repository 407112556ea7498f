package idemtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// variant is a payload with one value changed.
type variant struct {
	path  string
	value []byte
}

// variants changes every string, number and boolean of a JSON payload, one at a time, to
// another of its kind, so that most still decode. A payload of another format has none.
func variants(payload []byte) (out []variant) {
	var root any
	d := json.NewDecoder(strings.NewReader(string(payload)))
	d.UseNumber()
	if d.Decode(&root) != nil {
		return nil
	}
	vary(root, "", func(path string) {
		if changed, err := json.Marshal(root); err == nil {
			out = append(out, variant{path, changed})
		}
	})
	return out
}

// vary calls emit for each leaf below v while that leaf is changed.
func vary(v any, path string, emit func(path string)) {
	step := func(at string, child any, set func(any)) {
		if other, leaf := changed(child); leaf {
			set(other)
			emit(at)
			set(child)
			return
		}
		vary(child, at, emit)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			step(strings.TrimPrefix(path+"."+name, "."), v[name], func(c any) { v[name] = c })
		}
	case []any:
		for i := range v {
			step(fmt.Sprintf("%s[%d]", path, i), v[i], func(c any) { v[i] = c })
		}
	}
}

// nanosecondDigits is more digits than microseconds since 1970 have. What a time has beyond
// microseconds is cut, so a change there is none.
const nanosecondDigits = 17

// changed is another value of the same kind. It reports false for objects, lists and null.
func changed(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		if i := strings.LastIndexAny(v, "0123456789"); i >= 0 {
			return v[:i] + nextDigit(v[i]) + v[i+1:], true
		}
		return v + "x", true
	case json.Number:
		i := strings.LastIndexAny(v.String(), "0123456789")
		if len(v) > nanosecondDigits && !strings.ContainsAny(v.String(), ".eE") {
			i -= 3
		}
		return json.Number(v[:i] + json.Number(nextDigit(v[i])) + v[i+1:]), true
	case bool:
		return !v, true
	}
	return nil, false
}

func nextDigit(d byte) string {
	if d == '9' {
		return "8"
	}
	return string(d + 1)
}

// sample is one record per kind of event among those whose copies must have no effect.
// Records are of one kind if they have the same members and the same values of those
// headers whose values occur in several records.
func (b *bench) sample() (out []record) {
	uses := map[string]int{}
	for _, r := range b.log {
		for _, h := range r.message.Headers {
			uses[h.Name+"="+string(h.Value)]++
		}
	}
	seen := map[string]bool{}
	for _, r := range b.repeatable() {
		var kind []string
		for _, h := range r.message.Headers {
			if text := h.Name + "=" + string(h.Value); uses[text] > 1 {
				kind = append(kind, text)
			}
		}
		for _, v := range variants(r.message.Value) {
			kind = append(kind, v.path)
		}
		if key := strings.Join(kind, "\n"); !seen[key] {
			seen[key] = true
			out = append(out, r)
		}
	}
	return out
}
