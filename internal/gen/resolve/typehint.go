package resolve

import (
	"strings"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// typeWord returns the type that a word stands for, in this language or another one; "" if
// there is none.
func typeWord(ts *draft.Types, word string) string {
	if _, ok := typeword.ScalarOf(word); ok || ts.Find(word) != nil {
		return word
	}
	for _, of := range []string{"list(", "map("} {
		if inner, ok := strings.CutPrefix(word, of); ok && strings.HasSuffix(inner, ")") && typeWord(ts, strings.TrimSuffix(inner, ")")) != "" {
			return word
		}
	}
	return typeword.OtherWords[strings.ToLower(word)]
}

// unknownType reports a name that is no type.
func unknownType(report *syntax.Diagnostics, ts *draft.Types, name string, at syntax.Pos) {
	report.Add(at, "E208", "unknown type "+wording.Quote(name), unknownTypeHint(ts, name))
}

// unknownTypeHint says what was probably meant by a word that is no type.
func unknownTypeHint(ts *draft.Types, word string) string {
	for _, form := range []struct{ before, after, why string }{
		{"", "?", ""}, {"", " optional", ""}, {"", " nullable", ""}, {"nullable ", "", " (a field is optional, a column is nullable)"},
	} {
		base, before := strings.CutPrefix(word, form.before)
		base, after := strings.CutSuffix(base, form.after)
		if known := typeWord(ts, base); before && after && known != "" {
			return `write "optional ` + known + `"` + form.why
		}
	}
	if strings.EqualFold(word, "list") || strings.EqualFold(word, "array") {
		return `write "list(string)", with the type of its elements`
	}
	if base, ok := typeword.MappedBy(word); ok {
		known := typeWord(ts, base)
		if known == "" {
			known = "string"
		}
		return `write "map(` + known + `)", with the type of its values: the names of members are texts`
	}
	if base, ok := strings.CutSuffix(word, " array"); ok && typeWord(ts, base) != "" {
		return `write "list(` + typeWord(ts, base) + `)" (array is a column type)`
	}
	if base, ok := typeword.ElementOf(word); ok {
		if known := typeWord(ts, base); known != "" {
			return `write "list(` + known + `)"`
		}
	}
	if w, ok := typeword.OtherWords[strings.ToLower(word)]; ok {
		return `did you mean "` + w + `"?`
	}
	if strings.HasPrefix(strings.ToLower(word), "decimal_bytes") {
		return "write decimal_bytes(2) for two digits after the point: the schema gives the scale, as for numeric(p,s); if each value has its own scale, write decimal_struct"
	}
	if base, ok := typeword.Unsized(word); ok && typeWord(ts, base) != "" {
		return `did you mean "` + typeWord(ts, base) + `"? Length and digits are declared for the column`
	}
	var words []string
	for _, s := range typeword.Scalars {
		words = append(words, s.Word)
	}
	return syntax.DidYouMean(word, append(words, ts.Names...))
}
