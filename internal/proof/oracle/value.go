package oracle

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
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
	var b bytes.Buffer
	_ = json.Compact(&b, []byte(src)) // it is valid
	return b.String()
}

// compared is v with the content of JSON in its place.
func compared(v value) value {
	switch v := v.(type) {
	case jsonText:
		return jsonText(jsonContent(string(v)))
	case list:
		out := make(list, len(v))
		for i, e := range v {
			out[i] = compared(e)
		}
		return out
	case mapping:
		out := mapping{}
		for name, e := range v {
			out[name] = compared(e)
		}
		return out
	case *object:
		return &object{v.typ, compared(list(v.values)).(list)}
	}
	return v
}

// jsonContent is valid JSON as jsonb compares it: members in the order of their names, of repeated
// ones the last, numbers by value.
func jsonContent(src string) string {
	root, _ := parseJSON([]byte(src), math.MaxInt)
	root.normalize()
	text, _ := canonical(root)
	return text
}

// normalize drops the zeros at the end of fractions.
func (n *node) normalize() {
	if d, err := parseDecimal(n.text, numericWhole+numericScale); n.kind == numberNode && err == nil {
		n.text = d.normal().String()
	}
	for _, m := range n.members {
		m.node.normalize()
	}
	for _, e := range n.elems {
		e.normalize()
	}
}

func (u uuid) String() string {
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// parseUUID reads the 36-character form in any case.
func parseUUID(text string) (u uuid, ok bool) {
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(raw) != len(u) {
		return u, false
	}
	copy(u[:], raw)
	return u, u.String() == strings.ToLower(text)
}
