package idemtest

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// asJSON gives bytes that hold a JSON object or array the form of a JSON column. A case compares
// the payload of an event so, whatever the spaces and the order of members.
func (s *state) asJSON() {
	for _, t := range s.tables {
		for _, row := range t.cells {
			for i, cell := range row {
				if name, raw, ok := bytesOf(cell); ok && isDocument(raw) {
					row[i] = name + "=" + canonicalJSON(raw)
				}
			}
		}
	}
}

// readable is a cell whose bytes are shown as the text that they are, if they are one.
func readable(cell string) string {
	name, raw, ok := bytesOf(cell)
	switch {
	case !ok || raw == "" || !utf8.ValidString(raw) || strings.ContainsFunc(raw, unprintable):
		return cell
	case isDocument(raw) && !strings.ContainsAny(raw, "\r\n"):
		return name + "=" + raw
	}
	return name + "=" + quoted(raw)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }

// bytesOf are the bytes of a cell of type bytea. A text is in quotes, so no other cell begins so.
func bytesOf(cell string) (name, raw string, ok bool) {
	name, value, _ := strings.Cut(cell, "=")
	digits, ok := strings.CutPrefix(value, `\x`)
	if !ok {
		return name, "", false
	}
	b, err := hex.DecodeString(digits)
	return name, string(b), err == nil
}

// isDocument reports whether a text is a JSON object or array. Too many other texts are scalars.
func isDocument(text string) bool {
	first := strings.TrimLeft(text, " \t\r\n")
	return first != "" && (first[0] == '{' || first[0] == '[') && json.Valid([]byte(text))
}
