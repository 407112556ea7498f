package oracle

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// A cell is what a column holds: nil for NULL, or a value of the column's type: string,
// bool, int64, decimal, float64, uuid, instant, wall, day, []byte, jsonText (canonical),
// []cell, or filled.
type cell any

// filled is a value that the database made. No two are equal.
type filled struct{ serial int }

const (
	instantLayout = "2006-01-02T15:04:05.000000Z"
	wallLayout    = "2006-01-02T15:04:05.000000"
	dayLayout     = time.DateOnly
)

// format writes a cell as the package comment says.
func format(t model.ColType, c cell) string {
	switch c := c.(type) {
	case nil:
		return "NULL"
	case string:
		return quote(c)
	case bool:
		return strconv.FormatBool(c)
	case int64:
		return strconv.FormatInt(c, 10)
	case decimal:
		return c.String()
	case float64:
		return strconv.FormatFloat(c, 'g', -1, 64)
	case uuid:
		return c.String()
	case instant:
		return c.time().Format(instantLayout)
	case wall:
		return c.time().Format(wallLayout)
	case day:
		return c.time().Format(dayLayout)
	case []byte:
		return `\x` + hex.EncodeToString(c)
	case jsonText:
		return string(c)
	case []cell:
		return formatArray(t, c)
	}
	return "*" // filled: Columns leaves such columns out
}

func formatArray(t model.ColType, cells []cell) string {
	parts := make([]string, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case nil:
			parts[i] = "null"
		case uuid, instant, wall, day:
			parts[i] = quote(format(t, c))
		case float64:
			d, _ := parseDecimal(strconv.FormatFloat(c, 'g', -1, 64), numericWhole)
			parts[i] = d.String()
		default:
			parts[i] = format(t, c)
		}
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// quote writes text as a JSON string without HTML escapes.
func quote(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string builder takes every string
	return strings.TrimSuffix(b.String(), "\n")
}

// identity writes a cell so that two cells are one key in Postgres exactly if their texts
// are equal. NULL has no identity.
func identity(t model.ColType, c cell) (string, bool) {
	switch c := c.(type) {
	case nil:
		return "", false
	case filled:
		return "filled " + strconv.Itoa(c.serial), true
	case string:
		return format(t, c), true
	case decimal:
		return c.normal().String(), true
	case float64:
		if c == 0 {
			return "0", true
		}
	}
	return format(t, c), true
}

// compareCells orders two cells of one column that are not NULL.
func compareCells(t model.ColType, a, b cell) int {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y)
		}
	case bool:
		if y, ok := b.(bool); ok && x != y {
			return map[bool]int{false: -1, true: 1}[x]
		}
		return 0
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	case decimal:
		if y, ok := b.(decimal); ok {
			return x.compare(y)
		}
	case float64:
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y)
		}
	case instant:
		if y, ok := b.(instant); ok {
			return cmp.Compare(x, y)
		}
	case wall:
		if y, ok := b.(wall); ok {
			return cmp.Compare(x, y)
		}
	case day:
		if y, ok := b.(day); ok {
			return cmp.Compare(x, y)
		}
	case filled:
		if y, ok := b.(filled); ok {
			return cmp.Compare(x.serial, y.serial)
		}
	}
	return strings.Compare(format(t, a), format(t, b))
}
