package syntax

import (
	"slices"
	"strconv"
)

// brackets goes over the lines from one on, of a file that the parser refuses, and finds the
// first thing that is wrong with brackets and quotes: one that is not closed, and what may
// not stand inside of { } and [ ].
func (s source) brackets(from int) (Diagnostic, bool) {
	begin := max(1, from-1) // of the entry of the whole file that the line, or the one before it, is in
	for begin > 1 && (indentOf(s.lines[begin-1]) > 0 || len(s.lines[begin-1]) == 0) {
		begin--
	}
	for _, line := range []int{from, begin} {
		b := bracketScan{source: s, line: line - 1}
		b.scan()
		if b.found != nil {
			return *b.found, true
		}
	}
	return Diagnostic{}, false
}

// bracketScan is on its way over the lines.
type bracketScan struct {
	source
	line, col int // next character, from 0
	open      []bracket
	found     *Diagnostic
}

// bracket is an open { or [.
type bracket struct {
	char rune
	pos  Pos
}

// scan goes on until something is wrong.
func (b *bracketScan) scan() {
	for b.line < len(b.lines) && b.found == nil {
		if b.token() {
			b.line, b.col = b.line+1, 0
		}
	}
	if b.found == nil && len(b.open) > 0 {
		b.notClosed()
	}
}

func (b *bracketScan) pos() Pos { return Pos{Line: b.line + 1, Col: b.col + 1, Width: 1} }

func (b *bracketScan) report(pos Pos, code, message, hint string) {
	b.found = &Diagnostic{Pos: pos, Code: code, Message: message, Hint: hint}
}

// at is the character i places further, a blank behind the line's end.
func (b *bracketScan) at(i int) rune {
	if line := b.lines[b.line]; b.col+i < len(line) {
		return line[b.col+i]
	}
	return ' '
}

// token steps over one token, and reports whether the line is done.
func (b *bracketScan) token() (done bool) {
	inside := len(b.open) > 0
	switch c := b.at(0); {
	case b.col >= len(b.lines[b.line]), c == '#' && (b.col == 0 || isBlank(b.at(-1))):
		return true
	case c == '{' || c == '[':
		b.open = append(b.open, bracket{c, b.pos()})
	case inside && (c == '}' || c == ']'):
		b.closing(c)
	case inside && c == '-' && isBlank(b.at(1)):
		if b.open[len(b.open)-1].pos.Line <= b.line {
			b.notClosed()
			break
		}
		b.report(b.pos(), "E101", `inside { } and [ ] a list item has no "-"`, "separate the items with commas")
	case c == '"' || c == '\'':
		b.quoted(c)
	case isBlank(c), inside && (c == ',' || c == ':'), c != '}' && c != ']' && c != ',' && isBlank(b.at(1)):
	case c == '}' || c == ']' || c == ',':
		b.report(b.pos(), "E101", "a string cannot start with "+quote(string(c)), "put the string in quotes")
	default:
		b.plain()
		return false
	}
	b.col++
	return false
}

func (b *bracketScan) closing(c rune) {
	open := b.open[len(b.open)-1]
	if c == closing(open.char) {
		b.open = b.open[:len(b.open)-1]
		return
	}
	b.report(b.pos(), "E101", quote(string(c))+" does not close "+quote(string(open.char)),
		quote(string(open.char))+" on line "+strconv.Itoa(open.pos.Line)+" is still open")
}

func closing(open rune) rune {
	if open == '{' {
		return '}'
	}
	return ']'
}

// notClosed reports the innermost open bracket.
func (b *bracketScan) notClosed() {
	open := b.open[len(b.open)-1]
	b.report(open.pos, "E101", quote(string(open.char))+" is not closed", "close it with "+quote(string(closing(open.char))))
}

// quoted steps to the end of a text in quotes, which may go over lines.
func (b *bracketScan) quoted(mark rune) {
	open := b.pos()
	for b.col++; b.line < len(b.lines); b.line, b.col = b.line+1, 0 {
		for line := b.lines[b.line]; b.col < len(line); b.col++ {
			switch {
			case line[b.col] == '\\' && mark == '"', line[b.col] == mark && mark == '\'' && b.at(1) == mark:
				b.col++
			case line[b.col] == mark:
				return
			}
		}
	}
	b.report(open, "E101", "this quote is not closed", "close it, or put the whole string in the other kind of quotes")
}

// plain steps to the end of a text without quotes on this line. Inside of brackets it reports
// a character that may not stand in it.
func (b *bracketScan) plain() {
	for start := b.col; b.col < len(b.lines[b.line]); b.col++ {
		inside := len(b.open) > 0
		switch c := b.at(0); {
		case c == ':' && isBlank(b.at(1)), c == '#' && isBlank(b.at(-1)):
			return
		case inside && slices.Contains([]rune(",]}"), c):
			return
		case inside && slices.Contains([]rune("?[{"), c) && b.col > start:
			b.trap(c)
			return
		}
	}
}

// trap reports a ?, [ or { behind a value inside of brackets.
func (b *bracketScan) trap(c rune) {
	hint := "put the whole string in quotes"
	switch next := b.at(1); {
	case c == '?' && (isBlank(next) || slices.Contains([]rune(",]}"), next)):
		hint = "write name: optional string for a field, name: nullable text for a column"
	case b.at(-1) == ':':
		hint = blankHint
	case c == '{' && b.at(-1) == '$':
		hint = "placeholders are not filled in: write the value itself"
	case c == '[' && next == ']':
		hint = "write name: list(string) for a field, name: text array for a column"
	}
	b.report(b.pos(), "E113", `YAML does not allow "`+string(c)+`" after a value inside { } or [ ]`, hint)
}
