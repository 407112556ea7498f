package schema

import (
	"slices"
	"strings"
)

// quoted reads a text in quotes, which may go over lines.
func (l *lexer) quoted(mark rune) {
	start, startLine := l.col, l.ln
	open := l.pos(l.col, 1)
	for l.col++; ; l.col++ {
		if l.ln > startLine && l.col == 0 && (l.marker('-') || l.marker('.')) {
			break
		}
		switch c := l.at(0); {
		case c == 0:
			if l.ln+1 < len(l.lines) {
				l.ln, l.col = l.ln+1, -1
				continue
			}
		case c == '\\' && mark == '"':
			l.col++
			continue
		case c == mark && mark == '\'' && l.at(1) == mark:
			l.col++
			continue
		case c == mark:
			l.col++
			l.afterText(piece{pos: open}, start, l.ln == startLine)
			return
		default:
			continue
		}
		break
	}
	l.fail(open, "this quote is not closed", "close it, or put the whole text in the other kind of quotes")
}

// plain reads a text without quotes, which may go over lines.
func (l *lexer) plain() {
	start, startLine, oneLine := l.col, l.ln, true
	var text strings.Builder
	tok := piece{pos: l.pos(l.col, 1)}
	for {
		from := l.col
		end := l.plainEnd()
		if oneLine {
			tok.pos.Width = max(1, end-from)
		}
		text.WriteString(string(l.lines[l.ln][from:end]))
		l.col = end
		if slices.ContainsFunc(l.lines[l.ln][l.col:], func(r rune) bool { return !isBlank(r) }) {
			break
		}
		next, ok := l.continuation()
		if !ok {
			break
		}
		oneLine = false
		l.ln, l.col = next, indentOf(l.lines[next])
		text.WriteByte(' ')
		if len(l.flow) == 0 && l.at(0) == '\t' {
			l.fail(l.pos(l.col, 1), "a tab cannot be indentation", "indent with spaces")
			return
		}
		for l.at(0) == '\t' || l.at(0) == ' ' {
			l.col++
		}
	}
	tok.text = text.String()
	if tok.text == "<<" && oneLine {
		l.ds.Add(tok.pos, "E102", "YAML merge keys are not allowed (<<)", sharedHint)
	}
	l.afterText(tok, start, l.ln == startLine)
}

// plainEnd returns where the text that starts here ends on this line. Inside brackets
// it reports characters that YAML does not allow behind a value and reads over them.
func (l *lexer) plainEnd() int {
	line := l.lines[l.ln]
	end := l.col
	for i := l.col; i < len(line); i++ {
		c := line[i]
		switch {
		case isBlank(c):
			continue
		case c == ':' && (i+1 == len(line) || isBlank(line[i+1])):
			return end
		case c == '#' && i > l.col && isBlank(line[i-1]):
			return end
		case len(l.flow) > 0 && slices.Contains([]rune(",]}"), c):
			return end
		case len(l.flow) > 0 && slices.Contains([]rune("?[{"), c) && i > l.col:
			l.trap(i, c)
			if c != '?' {
				// The bracket is part of the text that was meant: step over its end, too.
				if j := slices.Index(line[i:], closing(c)); j > 0 {
					i += j
				}
			}
		}
		end = i + 1
	}
	return end
}

// trap reports E113 for a ?, [ or { behind a value inside brackets.
func (l *lexer) trap(col int, c rune) {
	hint := "put the whole text in quotes"
	next := rune(',')
	if line := l.lines[l.ln]; col+1 < len(line) {
		next = line[col+1]
	}
	switch {
	case c == '?' && slices.Contains([]rune(",]} "), next):
		hint = `write "optional string" (a field) or "nullable text" (a column)`
	case c == '{' && l.lines[l.ln][col-1] == '$':
		hint = "a spec has no variables: write the value itself"
	case c == '[' && next == ']':
		hint = `write "list(string)" (a field) or "text array" (a column)`
	}
	l.ds.Add(l.pos(col, 1), "E113", `YAML does not allow "`+string(c)+`" after a value inside { } or [ ]`, hint)
}

// continuation returns the next line if the text goes on there.
func (l *lexer) continuation() (int, bool) {
	for ln := l.ln + 1; ln < len(l.lines); ln++ {
		line := l.lines[ln]
		i := indentOf(line)
		for i < len(line) && line[i] == '\t' {
			i++
		}
		if i == len(line) {
			continue
		}
		here := lexer{source: l.source, ln: ln}
		if here.marker('-') || here.marker('.') || line[i] == '#' {
			return 0, false
		}
		if len(l.flow) > 0 {
			colon := line[i] == ':' && (i+1 == len(line) || isBlank(line[i+1]))
			return ln, !colon && !slices.Contains([]rune(",[]{}?"), line[i])
		}
		return ln, indentOf(line) > l.top().col
	}
	return 0, false
}

// afterText looks at what follows a text: behind a key it opens a block.
func (l *lexer) afterText(tok piece, start int, oneLine bool) {
	if len(l.flow) > 0 {
		l.cutText(tok)
		return
	}
	i := l.col
	for line := l.lines[l.ln]; i < len(line) && isBlank(line[i]); i++ {
	}
	line := l.lines[l.ln]
	isKey := i < len(line) && line[i] == ':' && (i+1 == len(line) || isBlank(line[i+1]))
	switch {
	case isKey && !oneLine:
		l.fail(l.pos(indentOf(line), 1), "a map entry cannot stand here", yamlHint)
	case isKey && !l.keyOK:
		l.fail(l.pos(start, 1), "a map entry cannot stand here", `put the text in quotes if the ":" belongs to it`)
	case isKey:
		l.enter(start, false)
		l.opened, l.popped, l.keyOK = true, false, false
		l.col = i + 1
	default:
		if l.keyOK && l.top().col == start && !l.opened && !l.top().list {
			hint := yamlHint
			if strings.Contains(tok.text, ":") {
				hint = blankHint
			}
			l.fail(tok.pos, `a key needs ":" behind it`, hint)
		}
		l.opened, l.keyOK = false, false
	}
}

// blockText skips a text that starts with | or >: all further lines that are indented
// deeper than the block it stands in.
func (l *lexer) blockText() {
	parent := l.top().col
	for l.ln++; l.ln < len(l.lines); l.ln++ {
		line := l.lines[l.ln]
		if i := indentOf(line); i < len(line) && i <= parent {
			break
		}
		if parent < 0 && (l.marker('-') || l.marker('.')) {
			break
		}
	}
	l.ln--
	l.col = len(l.lines[l.ln])
	l.opened, l.keyOK = false, false
}
