package resolve

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/schema"
)

// quote puts a text of the spec into a message, on one line.
func quote(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return strconv.Quote(text)
	}
	return `"` + text + `"`
}

// choices is the hint for a name that is not known: the one that was probably meant, or
// those there are.
func choices(text, what string, names []string) string {
	if near := schema.DidYouMean(text, names); near != "" || len(names) == 0 || len(names) > maxChoices {
		return near
	}
	return what + " here: " + strings.Join(slices.Sorted(slices.Values(names)), ", ")
}

// maxChoices is how many names a hint lists at most.
const maxChoices = 12

// bracketed lists names as [a, b].
func bracketed(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

// quotedList lists names as "a", "b" and "c".
func quotedList(names []string) string {
	var b strings.Builder
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(quote(n))
	}
	return b.String()
}
