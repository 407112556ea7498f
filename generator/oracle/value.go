package oracle

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// A value is what a field holds after decoding: nil for NULL, string (string and enum),
// uuid, bool, int64, float64, decimal, instant, wall, day, []byte, jsonText, *object, list
// or mapping.
type value any

type (
	uuid     [16]byte
	jsonText string // as sent
	list     []value
	mapping  map[string]value
)

// object is a decoded object: one value per member of its type, in declared order.
type object struct {
	typ    *model.Type
	values []value
}

func (o *object) member(f *model.Field) value {
	for i, m := range o.typ.Fields {
		if m == f {
			return o.values[i]
		}
	}
	return nil
}

// content writes v so that two values are equal exactly if their texts are: typed and
// length-prefixed, decimals without trailing zeros, JSON without insignificant space.
func content(v value) string {
	tag, text := "", ""
	switch v := v.(type) {
	case nil:
		tag = "null"
	case string:
		tag, text = "text", v
	case uuid:
		tag, text = "uuid", v.String()
	case bool:
		tag, text = "bool", strconv.FormatBool(v)
	case int64:
		tag, text = "int", strconv.FormatInt(v, 10)
	case float64:
		tag, text = "float", strconv.FormatFloat(v+0, 'g', -1, 64) // -0 is 0
	case decimal:
		tag, text = "decimal", v.normal().String()
	case instant:
		tag, text = "instant", strconv.FormatInt(int64(v), 10)
	case wall:
		tag, text = "wall", strconv.FormatInt(int64(v), 10)
	case day:
		tag, text = "day", strconv.FormatInt(int64(v), 10)
	case []byte:
		tag, text = "bytes", string(v)
	case jsonText:
		tag, text = "json", withoutSpace(string(v))
	case list:
		tag, text = "list", contents(v)
	case mapping:
		var all []value
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, name, v[name])
		}
		tag, text = "map", contents(all)
	case *object:
		tag, text = "object", contents(v.values)
	}
	return tag + strconv.Itoa(len(text)) + ":" + text
}

func contents(vs []value) string {
	var b strings.Builder
	for _, v := range vs {
		b.WriteString(content(v))
	}
	return b.String()
}

// withoutSpace drops the space between the tokens of valid JSON.
func withoutSpace(src string) string {
	var b strings.Builder
	inside, escaped := false, false
	for i := range len(src) {
		c := src[i]
		switch {
		case inside:
			inside = c != '"' || escaped
			escaped = c == '\\' && !escaped
		case c == '"':
			inside = true
		case strings.IndexByte(" \t\r\n", c) >= 0:
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

func (u uuid) String() string {
	var b strings.Builder
	for i, c := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b.WriteByte('-')
		}
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

// parseUUID reads the 36-character form in any case.
func parseUUID(text string) (uuid, bool) {
	var u uuid
	if len(text) != 36 {
		return u, false
	}
	n := 0
	for i, c := range strings.ToLower(text) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return u, false
			}
			continue
		}
		d := strings.IndexRune(hexDigits, c)
		if d < 0 {
			return u, false
		}
		u[n/2] |= byte(d) << (4 - 4*(n%2))
		n++
	}
	return u, true
}
