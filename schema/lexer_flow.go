package schema

import (
	"slices"
	"strconv"
	"strings"
)

func closing(open rune) rune {
	if open == '{' {
		return '}'
	}
	return ']'
}

// openBracket enters { or [.
func (l *lexer) openBracket(c rune) {
	if len(l.blocks)+len(l.flow) >= maxNesting {
		l.tooDeep()
		return
	}
	l.flow = append(l.flow, bracket{char: c, pos: l.pos(l.col, 1)})
	l.cut, l.colon = nil, false
	l.col++
}

// notClosed reports the innermost open bracket.
func (l *lexer) notClosed() {
	open := l.flow[len(l.flow)-1]
	l.fail(open.pos, quote(string(open.char))+" is not closed", "close it with "+quote(string(closing(open.char))))
}

func (l *lexer) tooDeep() {
	l.failed = true
	l.ds.Add(l.pos(l.col, 1), "E103", nestingMessage, nestingHint)
}

const (
	nestingMessage = "the file nests deeper than 64 levels"
	nestingHint    = "no spec needs that: is a bracket left open above?"
)

// flowToken reads one token inside brackets.
func (l *lexer) flowToken() {
	c := l.at(0)
	switch {
	case c == '}' || c == ']':
		l.closeBracket(c)
	case c == ',':
		l.col++
		l.colon = false
	case c == ':', c == '?' && l.blankAt(1):
		l.col++
		l.cut, l.colon = nil, c == ':'
	case c == '-' && l.blankAt(1) && l.flow[len(l.flow)-1].pos.Line <= l.ln:
		l.notClosed()
	case c == '-' && l.blankAt(1):
		l.fail(l.pos(l.col, 1), `inside { } and [ ] a list item has no "-"`, "separate the items with commas")
	default:
		l.value()
	}
}

func (l *lexer) closeBracket(c rune) {
	open := l.flow[len(l.flow)-1]
	if closing(open.char) != c {
		l.fail(l.pos(l.col, 1), quote(string(c))+" closes nothing here", quote(string(open.char))+" of line "+strconv.Itoa(open.pos.Line)+" is still open")
		return
	}
	l.flow = l.flow[:len(l.flow)-1]
	l.cut, l.colon = nil, false
	l.col++
	l.opened, l.keyOK = false, false
}

const blankHint = `write a blank after the ":"`

// cutText finds texts inside brackets that are not what they look like: a:b without a
// blank, and one that a comma has cut inside its parentheses, as in numeric(12,2).
func (l *lexer) cutText(tok piece) {
	first := l.cut
	l.cut = nil
	if c := l.at(0); !l.colon && (c == ',' || c == '}') && l.flow[len(l.flow)-1].char == '{' && tok.pos.Line == l.ln+1 && strings.Contains(tok.text, ":") {
		l.ds.Add(tok.pos, "E113", "YAML reads "+quote(tok.text)+" as one text and not as key and value", blankHint)
	}
	open, end := strings.Count(tok.text, "("), strings.Count(tok.text, ")")
	switch {
	case open > end:
		l.cut = &tok
	case first != nil && end > open:
		inside := "{ }"
		what := "the value"
		if l.flow[len(l.flow)-1].char == '[' {
			inside = "[ ]"
		}
		if slices.ContainsFunc([]string{"numeric(", "decimal("}, func(w string) bool { return strings.Contains(first.text, w) }) {
			what = "the type"
		}
		l.ds.Add(tok.pos, "E113", "inside "+inside+" a comma ends the value, so "+what+" was cut in two", "quote it: "+quote(first.text+","+tok.text))
	}
}
