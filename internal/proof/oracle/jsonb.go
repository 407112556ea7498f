package oracle

import (
	"encoding/base64"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// sentJSON is the text by which an object, a list or a map reaches a jsonb column: keys are the
// names of the members in declared order, NULL is null, decimals and integers are
// numbers, times are RFC 3339 in UTC without trailing zeros, bytes are base64.
func sentJSON(v value) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case uuid:
		return quote(v.String())
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case decimal:
		return v.String()
	case instant:
		return quote(v.time().Format("2006-01-02T15:04:05.999999Z"))
	case wall:
		return quote(v.time().Format("2006-01-02T15:04:05.999999"))
	case day:
		return quote(v.time().Format(time.DateOnly))
	case []byte:
		return quote(base64.StdEncoding.EncodeToString(v))
	case list:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = sentJSON(e)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case mapping:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, quote(name)+":"+sentJSON(v[name]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case *object:
		parts := make([]string, len(v.values))
		for i, m := range v.typ.Fields {
			parts[i] = quote(m.Name) + ":" + sentJSON(v.values[i])
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return string(v.(jsonText))
}

// What a number inside jsonb may have: Postgres stores it as numeric.
const (
	numericWhole = 131072
	numericScale = 16383
)

// jsonCell writes JSON in the canonical form of the package comment.
func jsonCell(t model.ColType, text string) (cell, *fault) {
	root, err := parseJSON([]byte(text), math.MaxInt)
	if err != nil {
		return nil, misfit("not JSON: %s", err.detail)
	}
	canon, ok := canonical(root)
	if !ok && t.Kind == model.ColJSONB {
		return nil, &fault{class: ClassDatabase, detail: "a number inside jsonb is out of range"}
	}
	return jsonText(canon), nil
}

// canonical also reports whether every number is within the range of numeric; one that
// is not stays as it was sent.
func canonical(n *node) (text string, ok bool) {
	ok = true
	part := func(n *node) string {
		s, fine := canonical(n)
		ok = ok && fine
		return s
	}
	switch n.kind {
	case stringNode:
		return quote(n.text), true
	case numberNode:
		d, err := parseDecimal(n.text, numericWhole+numericScale)
		if err != nil || d.wholeDigits() > numericWhole || d.scale > numericScale {
			return n.text, false
		}
		return d.String(), true
	case arrayNode:
		parts := make([]string, len(n.elems))
		for i, e := range n.elems {
			parts[i] = part(e)
		}
		return "[" + strings.Join(parts, ",") + "]", ok
	case objectNode:
		last := map[string]*node{}
		for _, m := range n.members {
			last[m.name] = m.node
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(last)) {
			parts = append(parts, quote(name)+":"+part(last[name]))
		}
		return "{" + strings.Join(parts, ",") + "}", ok
	}
	return n.text, true
}
