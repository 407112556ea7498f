package oracle

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// toCell turns a decoded value into what column c holds. It never rounds, cuts or pads a
// field's value: what does not fit is a fault of class fit, or of class database where
// only Postgres can tell.
func toCell(c *model.Column, v value) (cell, *fault) {
	t := c.Type
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return textCell(t, v)
	case uuid:
		if t.Kind != model.ColUUID {
			return textCell(t, v.String())
		}
		return v, nil
	case int64:
		if t.Kind == model.ColNumeric {
			return numericCell(t, decimalOf(v))
		}
		return integerCell(t, v)
	case decimal:
		return numericCell(t, v)
	case float64:
		return floatCell(t, v)
	case []byte, bool, instant, wall, day, filled:
		return v, nil
	case jsonText:
		return jsonCell(t, string(v))
	case *object, mapping:
		return jsonCell(t, sentJSON(v))
	case list:
		if t.Kind == model.ColJSONB || t.Kind == model.ColJSON {
			return jsonCell(t, sentJSON(v))
		}
		return arrayCell(t, v)
	}
	panic(fmt.Sprintf("oracle: column %s cannot hold a %T; the model was not checked", c.Name, v))
}

func misfit(format string, args ...any) *fault {
	return &fault{class: ClassFit, detail: fmt.Sprintf(format, args...)}
}

// textCell counts characters as Postgres does: code points.
func textCell(t model.ColType, text string) (cell, *fault) {
	n := utf8.RuneCountInString(text)
	switch {
	case t.Kind == model.ColVarchar && n > t.Len:
		return nil, misfit("longer than varchar(%d)", t.Len)
	case t.Kind == model.ColChar && n != t.Len:
		return nil, misfit("not exactly the %d characters of char(%d)", t.Len, t.Len)
	}
	return text, nil
}

func integerCell(t model.ColType, n int64) (cell, *fault) {
	bits := map[model.ColKind]int{model.ColSmallint: 16, model.ColInteger: 32}[t.Kind]
	if bits != 0 && (n < -1<<(bits-1) || n > 1<<(bits-1)-1) {
		return nil, misfit("too large for the column's integer type")
	}
	return n, nil
}

func numericCell(t model.ColType, d decimal) (cell, *fault) {
	if t.Precision == 0 {
		return d, nil
	}
	fitted, ok := d.fit(t.Precision, t.Scale)
	if !ok {
		return nil, misfit("more digits than numeric(%d,%d)", t.Precision, t.Scale)
	}
	return fitted, nil
}

// floatCell refuses what a real would round: the shortest decimal that names its value is v's.
func floatCell(t model.ColType, v float64) (cell, *fault) {
	if t.Kind == model.ColReal {
		if short, _ := parseFloat(strconv.FormatFloat(v, 'g', -1, 32)); short != v {
			return nil, misfit("more digits than real holds")
		}
	}
	return v, nil
}

func arrayCell(t model.ColType, l list) (cell, *fault) {
	cells := make([]cell, len(l))
	for i, v := range l {
		c, f := toCell(&model.Column{Type: t.Element()}, v)
		if f != nil {
			f.path = fmt.Sprintf("[%d]%s", i, f.path)
			return nil, f
		}
		cells[i] = c
	}
	return cells, nil
}

// constant reads a checked constant of the spec by its column's type.
func constant(c *model.Column, text string) (cell, *fault) {
	t := c.Type
	field := func(k model.Kind) (cell, *fault) {
		v, why := parseText(model.FieldType{Kind: k}, text)
		if why != "" {
			return nil, misfit("constant: %s", why)
		}
		return toCell(c, v)
	}
	switch t.Kind {
	case model.ColBoolean:
		return field(model.Bool)
	case model.ColSmallint, model.ColInteger, model.ColBigint:
		return field(model.Int64)
	case model.ColNumeric:
		return field(model.Decimal)
	case model.ColReal, model.ColDouble:
		return field(model.Float64)
	case model.ColUUID:
		return field(model.UUID)
	case model.ColTimestamptz:
		return field(model.Timestamp)
	case model.ColTimestamp:
		return field(model.LocalTimestamp)
	case model.ColDate:
		return field(model.Date)
	case model.ColBytea:
		return field(model.Bytes)
	case model.ColJSONB, model.ColJSON:
		return jsonCell(t, text)
	case model.ColArray:
		return arrayConstant(t, text)
	}
	return textCell(t, text)
}
