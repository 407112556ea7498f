package syntax

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Pos is a place in a spec file: Line and Col count from 1, Col and Width in code
// points. Width is the length of the token, for the caret; a token that goes on over
// further lines ends, for Width, with its first line. The zero Pos is no place.
type Pos struct {
	Line, Col, Width int
}

// OnLine names the line for a hint at another place.
func (p Pos) OnLine() string { return fmt.Sprintf("line %d", p.Line) }

// MaxFileSize is the size in bytes of the largest file that is parsed; a larger one is E103.
const MaxFileSize = 1 << 20

// maxNesting is how many levels of maps and lists a file may have.
const maxNesting = 64

// source is a file as lines of code points, without line ends.
type source struct {
	lines [][]rune
}

// newSource splits data at LF and CRLF. Bytes that are not UTF-8 become U+FFFD. What stands behind
// the largest size of a file is left out.
func newSource(data []byte) source {
	var s source
	data = data[:min(len(data), MaxFileSize)]
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		s.lines = append(s.lines, []rune(string(bytes.TrimSuffix(line, []byte("\r")))))
	}
	return s
}

// rest returns what stands at pos and behind it on the same line.
func (s source) rest(pos Pos) []rune {
	if pos.Line < 1 || pos.Line > len(s.lines) {
		return nil
	}
	line := s.lines[pos.Line-1]
	if pos.Col < 1 || pos.Col > len(line) {
		return nil
	}
	return line[pos.Col-1:]
}

// within moves a place behind the file's end, where the parser puts empty values, to
// the end.
func (s source) within(pos Pos) Pos {
	if pos.Line > len(s.lines) {
		pos.Line, pos.Col = len(s.lines), len(s.lines[len(s.lines)-1])+1
	}
	return pos
}

// checkEncoding reports what makes a file unreadable before any YAML is looked at.
func checkEncoding(data []byte, ds *Diagnostics) bool {
	const utf8Hint = "save it as UTF-8 without a byte order mark"
	start := Pos{Line: 1, Col: 1, Width: 1}
	switch {
	case len(data) > MaxFileSize:
		ds.Add(start, "E103", "the file is larger than 1 MiB", boundsHint(ds))
		return false
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		ds.Add(start, "E103", "the file is UTF-16, not UTF-8", utf8Hint)
		return false
	case bytes.HasPrefix(data, []byte("\ufeff")):
		ds.Add(start, "E103", "the file starts with a byte order mark (BOM)", utf8Hint)
		return false
	}
	line, col := 1, 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		pos := Pos{Line: line, Col: col, Width: 1}
		switch {
		case r == utf8.RuneError && n == 1:
			ds.Add(pos, "E103", fmt.Sprintf("the file is not UTF-8: byte 0x%02x", data[i]), utf8Hint)
			return false
		case r == '\n':
			line, col = line+1, 0
		case r == '\r' && i+1 < len(data) && data[i+1] == '\n':
		case !allowedRune(r):
			ds.Add(pos, "E103", fmt.Sprintf("the character U+%04X is not allowed in a %s", r, ds.noun()), escapeHint(r))
			return false
		}
		col++
		i += n
	}
	return true
}

// escapeHint says how a text holds a character that the file must not: Go, SQL and people
// read past it.
func escapeHint(r rune) string {
	if r == 0 {
		return "remove it"
	}
	return fmt.Sprintf(`remove it; where a string needs it, write \u%04X inside of "..."`, r)
}

// allowedRune is YAML's printable set without the characters that YAML takes for line
// ends and editors do not: with them, line numbers would lie.
func allowedRune(r rune) bool {
	switch {
	case r == '\t':
		return true
	case r < 0x20, r >= 0x7f && r <= 0x9f, r == 0x2028, r == 0x2029, r == 0xfeff:
		return false
	}
	return r < 0xfffe || r > 0xffff
}

// quote puts a text of the file into a message, in double quotes.
func quote(text string) string { return `"` + short(text) + `"` }

// short makes a text of the file fit for a message: on one line, cut if it is long.
func short(text string) string {
	const most = 60
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n == most {
			b.WriteString("...")
			break
		}
		b.WriteRune(seen(r))
		n++
	}
	return b.String()
}
