// Package text says which texts of records can be stored, and marks those in JSON that take the
// place of a value that cannot be read. It must not import any other package of this module.
package text

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// What is wrong with a text.
const (
	NotUTF8  = "is not valid UTF-8"
	HoldsNUL = "holds U+0000, which text and jsonb of Postgres cannot hold"
)

// Flaw says why Postgres cannot store a text, or returns "" if it can. It is the one answer for
// all texts of records, whatever their format: values, names in maps, headers and record keys.
func Flaw(text string) string {
	switch {
	case !utf8.ValidString(text):
		return NotUTF8
	case strings.IndexByte(text, 0) >= 0:
		return HoldsNUL
	}
	return ""
}

// Refused begins each JSON string that takes the place of a value: half of a surrogate pair, which
// JSON allows and no text of a record may hold.
const Refused = `"\ud800 `

// FirstRefused returns why the first value in a JSON document was refused, or "" if none was. why
// has the reasons by position, and perhaps others.
func FirstRefused(document []byte, why map[int]string) string {
	first := len(document)
	for at := range why {
		if at < first && bytes.HasPrefix(document[at:], []byte(Refused)) {
			first = at
		}
	}
	return why[first]
}
