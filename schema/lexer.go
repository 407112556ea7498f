package schema

import (
	"fmt"
	"slices"
)

// lexer goes over a file before the YAML parser does. It finds what YAML allows and
// specs do not (E102), what YAML reads differently from what it looks like (E113), and
// the structural mistakes that the parser would report at the wrong place (E101). It
// follows the parser's own rules for indentation and for where a text ends, so that it
// never calls a file broken that the parser accepts.
type lexer struct {
	source
	ds      *Diagnostics
	ln, col int // next character, from 0
	blocks  []block
	flow    []bracket
	cut     *piece   // text inside brackets whose "(" is still open
	colon   bool     // inside brackets, a ":" stood before
	started bool     // the document has content
	ended   bool     // "..." was seen
	opened  bool     // the last token waits for a block: "key:", "-" or the start
	popped  bool     // blocks ended at the start of this line
	keyOK   bool     // a key may start here
	failed  bool     // E101 was reported: what follows is unreliable
	alias   property // the last alias: on one line each is reported once
	unsure  bool     // there was an anchor or a tag: what is around it may be read differently
}

// block is an open block map or list.
type block struct {
	col   int
	list  bool
	items bool // a map whose last value is a list at the map's own column
}

// bracket is an open { or [.
type bracket struct {
	char rune
	pos  Pos
}

// property is an anchor, alias or tag on a line.
type property struct {
	name string
	line int
}

// piece is a piece of text with its place.
type piece struct {
	text string
	pos  Pos
}

// mostProblems is where a file that is full of them is given up.
const mostProblems = 100

// lex reports to ds and tells whether the file may go to the parser.
func lex(src source, ds *Diagnostics) bool {
	before := len(ds.list)
	l := &lexer{source: src, ds: ds, opened: true}
	for l.ln < len(l.lines) && !l.failed && len(ds.list)-before < mostProblems {
		l.line()
	}
	if len(l.flow) > 0 && !l.failed && l.ln >= len(l.lines) {
		l.notClosed()
	}
	return len(ds.list) == before
}

func (l *lexer) fail(pos Pos, reason, hint string) {
	l.failed = true
	if !l.unsure {
		l.ds.Add(pos, "E101", "not valid YAML: "+reason, hint)
	}
}

// pos is a place on the current line, width characters wide.
func (l *lexer) pos(col, width int) Pos {
	return Pos{Line: l.ln + 1, Col: col + 1, Width: max(1, width)}
}

// at returns the character i places further on this line, or 0 behind its end.
func (l *lexer) at(i int) rune {
	if line := l.lines[l.ln]; l.col+i < len(line) {
		return line[l.col+i]
	}
	return 0
}

// blankAt is true for a blank and for the end of the line.
func (l *lexer) blankAt(i int) bool { return isBlank(l.at(i)) }

func isBlank(r rune) bool { return r == 0 || r == ' ' || r == '\t' }

// line reads from the start of a line to the end of the line on which its last token
// ends.
func (l *lexer) line() {
	l.col = indentOf(l.lines[l.ln])
	first := l.at(0)
	if len(l.flow) == 0 {
		if first == '\t' {
			l.fail(l.pos(l.col, 1), "a tab cannot be indentation", "indent with spaces")
			return
		}
		if first != 0 && first != '#' && !l.startOfLine() {
			return
		}
	}
	for !l.failed && l.ln < len(l.lines) {
		for l.at(0) == ' ' || l.at(0) == '\t' {
			l.col++
		}
		if c := l.at(0); c == 0 || c == '#' {
			break
		}
		if len(l.flow) > 0 {
			l.flowToken()
		} else {
			l.blockToken()
		}
	}
	l.ln++
}

func indentOf(line []rune) int {
	if i := slices.IndexFunc(line, func(r rune) bool { return r != ' ' }); i >= 0 {
		return i
	}
	return len(line)
}

// marker tells whether the current line starts with "---" or "...".
func (l *lexer) marker(c rune) bool {
	line := l.lines[l.ln]
	return len(line) >= 3 && line[0] == c && line[1] == c && line[2] == c && (len(line) == 3 || isBlank(line[3]))
}

// startOfLine handles document markers and indentation. It returns false if the line
// is dealt with.
func (l *lexer) startOfLine() bool {
	start, end := l.marker('-'), l.marker('.')
	switch {
	case l.started && start, l.ended && !end:
		width := 3
		if !start {
			width = len(l.lines[l.ln]) - l.col
		}
		l.ds.Add(l.pos(l.col, width), "E102", "a spec is one YAML document; a second one starts here", "split it into two files")
		l.ln = len(l.lines)
		return false
	case start:
		l.started, l.col = true, 3
	case end:
		l.ended = true
		l.ln++
		return false
	case !l.started && l.col == 0 && l.at(0) == '%':
		l.ds.Add(l.pos(0, len(l.lines[l.ln])), "E102", "YAML directives are not allowed ("+short(string(l.lines[l.ln]))+")", "remove the line")
		l.ln++
		return false
	}
	l.started = true
	l.popped = false
	for n := len(l.blocks); n > 0 && l.blocks[n-1].col > l.col; n-- {
		l.blocks = l.blocks[:n-1]
		l.popped = true
	}
	l.keyOK = true
	return true
}

// top is the innermost block; column -1 outside all.
func (l *lexer) top() *block {
	if len(l.blocks) == 0 {
		return &block{col: -1}
	}
	return &l.blocks[len(l.blocks)-1]
}

// enter opens a block map or list at col unless the innermost one goes on there. It
// reports a token that fits into no open block.
func (l *lexer) enter(col int, list bool) {
	top := l.top()
	switch {
	case !l.keyOK:
		// The parser has the better reason.
	case top.col == col && list && !top.list:
		if !l.opened && !top.items {
			l.fail(l.pos(col, 1), "a list item cannot stand among the keys of a map", yamlHint)
			return
		}
		top.items = true
	case top.col == col && !list && top.list:
		l.fail(l.pos(col, 1), `a list goes on here, and its items start with "- "`, yamlHint)
		return
	case top.col == col:
		top.items = false
	case !l.opened || l.popped && l.atLineStart(col):
		l.fail(l.pos(col, 1), "the indentation matches no line above", yamlHint)
		return
	}
	if top.col < col && len(l.blocks)+len(l.flow) >= maxNesting {
		l.tooDeep()
		return
	}
	if top.col < col {
		l.blocks = append(l.blocks, block{col: col, list: list})
	}
}

func (l *lexer) atLineStart(col int) bool { return indentOf(l.lines[l.ln]) == col }

// blockToken reads one token outside brackets.
func (l *lexer) blockToken() {
	c := l.at(0)
	switch {
	case (c == '-' || c == '?') && l.blankAt(1):
		l.enter(l.col, c == '-')
		l.opened, l.popped = true, false
		l.col++
	case c == ':' && l.blankAt(1):
		// Behind "? key" the value starts a line of its own and may be a map.
		l.opened, l.keyOK, l.popped = true, l.atLineStart(l.col), false
		l.col++
	case c == '|' || c == '>':
		l.blockText()
	default:
		l.value()
	}
}

// value reads a token that may be a value, or part of one, in any context.
func (l *lexer) value() {
	switch c := l.at(0); c {
	case '{', '[':
		l.openBracket(c)
	case '&', '*', '!':
		l.property(c)
	case '"', '\'':
		l.quoted(c)
	case '@', '`', '%', '|', '>', '}', ']', ',':
		l.fail(l.pos(l.col, 1), "a text cannot start with "+quote(string(c)), "put the text in quotes")
	default:
		l.plain()
	}
}

// property reports an anchor, alias or tag and steps over it.
func (l *lexer) property(c rune) {
	n := 1
	for !l.blankAt(n) && (len(l.flow) == 0 || !slices.Contains([]rune(",[]{}"), l.at(n))) {
		n++
	}
	name := string(l.lines[l.ln][l.col : l.col+n])
	what, hint := "anchors", sharedHint
	switch c {
	case '*':
		what = "aliases"
		l.opened = false
	case '!':
		what, hint = "tags", "remove it: every value is read as the type that its key expects"
	}
	l.unsure = true
	seen := property{name, l.ln}
	if c != '*' || l.alias != seen {
		l.ds.Add(l.pos(l.col, n), "E102", fmt.Sprintf("YAML %s are not allowed (%s)", what, short(name)), hint)
		l.alias = seen
	}
	l.col += n
}

const (
	sharedHint = `name the shared part under "types" or repeat it`
	yamlHint   = "check the indentation and the quotes here"
)
