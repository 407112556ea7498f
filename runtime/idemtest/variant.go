package idemtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/runtime/idem"
)

// variant is a payload with one value changed.
type variant struct {
	path  string
	value []byte
}

// taken are the values that records of a log have, by their place: a record with one of
// them in place of its own may be another record of the log.
type taken map[string]bool

func valueAt(path string, v any) string { return fmt.Sprintf("%s=%v", path, v) }

// values are the leaves of all payloads of the log.
func (b *trial) values() taken {
	t := taken{}
	for _, r := range b.log {
		if _, data, ok := payload(r.message); ok {
			vary(data, "", func(path string, v any) (any, bool) {
				t[valueAt(path, v)] = true
				return nil, false
			}, nil)
		}
	}
	return t
}

// variants changes every string, number and boolean of a JSON payload, one at a time, to
// another of its kind that is not taken, so that most still decode, and takes that. A payload
// of another format has none. Of a CloudEvent in structured mode it changes the data.
func variants(m idem.Message, not taken) (out []variant) {
	root, data, ok := payload(m)
	if !ok {
		return nil
	}
	another := func(path string, v any) (any, bool) {
		other, leaf := changed(v, func(c any) bool { return not[valueAt(path, c)] })
		if leaf {
			not[valueAt(path, other)] = true
		}
		return other, leaf
	}
	vary(data, "", another, func(path string) {
		if changed, err := json.Marshal(root); err == nil {
			out = append(out, variant{path, changed})
		}
	})
	return out
}

// payload is a record's value as JSON, and the data in it.
func payload(m idem.Message) (root, data any, ok bool) {
	if decodeJSON(m.Value, &root) != nil {
		return nil, nil, false
	}
	structured := slices.ContainsFunc(m.Headers, func(h idem.Header) bool {
		return h.Name == "content-type" && strings.HasPrefix(string(h.Value), "application/cloudevents")
	})
	if event, ok := root.(map[string]any); ok && structured {
		return root, event["data"], true
	}
	return root, root, true
}

func decodeJSON(payload []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	return d.Decode(v)
}

// vary asks for another value of each leaf below v, and calls emit for each that has one
// while it is in the leaf's place.
func vary(v any, path string, another func(path string, v any) (any, bool), emit func(path string)) {
	step := func(at string, child any, set func(any)) {
		if other, ok := another(at, child); ok {
			set(other)
			emit(at)
			set(child)
			return
		}
		vary(child, at, another, emit)
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

// changed is another value of the same kind, one that is not taken if there is any. It
// reports false for objects, lists and null.
func changed(v any, taken func(any) bool) (any, bool) {
	switch v := v.(type) {
	case string:
		if last := strings.LastIndexAny(v, "0123456789"); last >= 0 {
			return otherDigit(v, last, '0', func(s string) any { return s }, taken), true
		}
		for v += "x"; taken(v); v += "x" {
		}
		return v, true
	case json.Number:
		last := strings.LastIndexAny(v.String(), "0123456789")
		if len(v) > nanosecondDigits && !strings.ContainsAny(v.String(), ".eE") {
			last -= 3
		}
		return otherDigit(v.String(), last, '1', func(s string) any { return json.Number(s) }, taken), true
	case bool:
		return !v, true
	}
	return nil, false
}

// otherDigit changes one digit of a text, the last one if that gives what is not taken, and
// to none below lowest.
func otherDigit(text string, last int, lowest byte, kind func(string) any, taken func(any) bool) any {
	first := ""
	for at := last; at >= 0; at-- {
		if text[at] < '0' || text[at] > '9' {
			continue
		}
		for _, digit := range otherDigits(text[at], lowest) {
			other := text[:at] + string(digit) + text[at+1:]
			if first == "" {
				first = other
			}
			if !taken(kind(other)) {
				return kind(other)
			}
		}
	}
	return kind(first)
}

// otherDigits are the digits above d, then those below.
func otherDigits(d, lowest byte) (out []byte) {
	for c := d + 1; c <= '9'; c++ {
		out = append(out, c)
	}
	for c := d - 1; c >= lowest; c-- {
		out = append(out, c)
	}
	return out
}

// sample is one record per kind of event among those whose copies must have no effect.
// Records are of one kind if they have the same members and the same values of those
// headers whose values occur in several records.
func (b *trial) sample() (out []record) {
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
		for _, v := range variants(r.message, taken{}) {
			kind = append(kind, v.path)
		}
		if key := strings.Join(kind, "\n"); !seen[key] {
			seen[key] = true
			out = append(out, r)
		}
	}
	return out
}
