package oracle

import (
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// arrayConstant reads an array as Postgres writes one: {a,"b c",NULL}.
func arrayConstant(t model.ColType, text string) (cell, *fault) {
	inner, open := strings.CutPrefix(text, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !open || !closed {
		return nil, misfit("constant: an array stands in { }")
	}
	cells := []cell{}
	for inner != "" {
		element, quoted, rest, ok := arrayElement(inner)
		if !ok {
			return nil, misfit("constant: an array with a broken element")
		}
		inner = rest
		if element == "NULL" && !quoted {
			cells = append(cells, nil)
			continue
		}
		c, f := constant(&model.Column{Type: t.Element()}, element)
		if f != nil {
			return nil, misfit("constant: one element is wrong: %s", strings.TrimPrefix(f.detail, "constant: "))
		}
		cells = append(cells, c)
	}
	return cells, nil
}

// arrayElement cuts the first element from the inside of an array.
func arrayElement(text string) (element string, quoted bool, rest string, ok bool) {
	if text[0] != '"' {
		element, rest, more := strings.Cut(text, ",")
		return element, false, rest, element != "" && (!more || rest != "")
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(text[i])
			}
		case '"':
			rest, more := strings.CutPrefix(text[i+1:], ",")
			return b.String(), true, rest, more == (rest != "")
		default:
			b.WriteByte(c)
		}
	}
	return "", true, "", false
}
