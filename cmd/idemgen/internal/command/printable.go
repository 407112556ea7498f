package command

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable writes to a terminal. What others wrote, such as a record, a broker or a registry, may
// hold characters on which a terminal acts, or which turn a line around: they are escaped.
type printable struct{ to io.Writer }

// Write writes whole texts: a character is never split over two calls.
func (p printable) Write(b []byte) (int, error) {
	text := string(b)
	if !strings.ContainsFunc(text, acts) && utf8.ValidString(text) {
		return p.to.Write(b)
	}
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if part := text[:size]; acts(r) || r == utf8.RuneError && size == 1 {
			quoted := strconv.QuoteToASCII(part)
			out.WriteString(quoted[1 : len(quoted)-1])
		} else {
			out.WriteString(part)
		}
		text = text[size:]
	}
	if _, err := io.WriteString(p.to, out.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Raw is the writer below one of a command, for bytes that are not to be escaped.
func Raw(out io.Writer) io.Writer {
	if escaped, is := out.(printable); is {
		return escaped.to
	}
	return out
}

// acts reports whether a terminal may do something else with a character than to show it.
func acts(r rune) bool { return r != '\n' && r != '\t' && r != ' ' && !unicode.IsPrint(r) }
