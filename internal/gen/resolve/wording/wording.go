// Package wording writes names and texts of the spec into messages and hints.
//
// It must not import any package of this module but syntax.
package wording

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Quote puts a text of the spec into a message, on one line.
func Quote(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return strconv.Quote(text)
	}
	return `"` + text + `"`
}

// Tables is the hint for a table that is not known.
func Tables(text string, names []string) string {
	if text == "idem_outbox" {
		return "the outbox is a table that exists already: declare it under tables (docs/outbox.md): idem_outbox: {external: true, primary_key: [seq], " +
			"columns: {seq: {type: bigint, filled_by: database}, aggregatetype: text, aggregateid: text, type: text, payload: nullable bytea}}"
	}
	return syntax.Choices(text, "tables", names)
}

// Bracketed lists names as [a, b].
func Bracketed(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

// QuotedList lists names as "a", "b" and "c".
func QuotedList(names []string) string {
	var b strings.Builder
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(Quote(n))
	}
	return b.String()
}
