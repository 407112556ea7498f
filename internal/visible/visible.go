// Package visible says which characters a reader does not see as they are, and escapes them. It
// must not import any other package of this module.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a character is not what a reader sees: it controls a terminal, turns the
// direction of a text, ends a line of code in another way than \n, or is invisible. It is the one
// answer for pages, terminals, messages and comments of generated code. Line ends, tabs, spaces of
// all widths and the two joiners, which scripts and emoji need, are not hidden.
func Hidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	switch r {
	case '\n', '\t', nonJoiner, joiner:
		return false
	}
	return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}

// Text returns a text with escapes for hidden characters, and for bytes that are not UTF-8. JSON
// in UTF-8 stays JSON.
func Text(s string) string {
	if !strings.ContainsFunc(s, Hidden) && utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, s[0])
		case !Hidden(r):
			out.WriteString(s[:size])
		case r > 0xffff:
			a, b := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, a, b)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		s = s[size:]
	}
	return out.String()
}
