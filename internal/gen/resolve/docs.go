package resolve

import (
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

func serviceDoc(spec *syntax.Spec) model.Doc {
	return docOf(syntax.Doc{Description: spec.Description})
}

func docOf(d syntax.Doc) model.Doc {
	var out model.Doc
	if d.Description != nil {
		out.Description = cleanText(d.Description.Value)
	}
	return out
}

// cleanText makes a text safe to stand in line comments of Go and SQL: whatever some
// reader takes for the end of a line becomes \n, so that the generators' prefix stands
// on every line, and what no source file may hold (NUL, BOM, other controls) is dropped.
func cleanText(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n",
		"\u0085", "\n", "\u2028", "\n", "\u2029", "\n", "\t", "    ").Replace(text)
	text = strings.Map(func(c rune) rune {
		if c != '\n' && (unicode.IsControl(c) || c == '\ufeff' || c == unicode.ReplacementChar) {
			return -1
		}
		return c
	}, text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRightFunc(l, unicode.IsSpace)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
