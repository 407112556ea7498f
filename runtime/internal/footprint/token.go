package footprint

import "strings"

// kind is the sort of a token in a statement.
type kind int

const (
	nothing kind = iota // the end, or what no rule of this package knows
	word                // a keyword or a name without quotes, in lower case
	name                // a name in quotes
	literal             // a string, a number, a parameter
	symbol              // one character of punctuation or of an operator
)

// token is a piece of a statement. A literal has no text.
type token struct {
	kind kind
	text string
}

func (t token) is(texts ...string) bool {
	for _, text := range texts {
		if t.kind == word && t.text == text {
			return true
		}
	}
	return false
}

// lexer cuts a statement into tokens. What it cannot be sure of makes it unsure: a
// backslash, which means other things under other settings, and quotes of dollars.
type lexer struct {
	rest   string
	unsure bool
}

// next is the next token; nothing at the end, and when the lexer is unsure.
func (l *lexer) next() token {
	l.skip()
	if l.rest == "" || l.unsure {
		return token{}
	}
	c := l.rest[0]
	switch {
	case c == '\'':
		return l.quoted(c, literal)
	case c == '"':
		return l.quoted(c, name)
	case c == '$':
		if n := span(l.rest[1:], digit); n > 0 {
			return l.ends(l.take(1+n, literal))
		}
		l.unsure = true
		return token{}
	case c == '\\', c < ' ':
		l.unsure = true
		return token{}
	case digit(c):
		return l.ends(l.take(span(l.rest, func(c byte) bool { return digit(c) || c == '.' }), literal))
	case letter(c):
		return l.ends(l.take(span(l.rest, part), word))
	}
	return l.take(1, symbol)
}

// skip passes space and comments. Comments nest, as in Postgres.
func (l *lexer) skip() {
	for depth := 0; ; {
		switch {
		case l.rest == "":
			l.unsure = l.unsure || depth > 0
			return
		case strings.HasPrefix(l.rest, "/*"):
			depth++
			l.rest = l.rest[2:]
		case depth > 0 && strings.HasPrefix(l.rest, "*/"):
			depth--
			l.rest = l.rest[2:]
		case depth > 0, space(l.rest[0]):
			l.rest = l.rest[1:]
		case strings.HasPrefix(l.rest, "--"):
			if i := strings.IndexAny(l.rest, "\r\n"); i >= 0 {
				l.rest = l.rest[i:]
			} else {
				l.rest = ""
			}
		default:
			return
		}
	}
}

// quoted takes a text in quotes. Two quotes in it are one, which as two texts side by side
// is the same for this package.
func (l *lexer) quoted(quote byte, k kind) token {
	end := strings.IndexByte(l.rest[1:], quote)
	if end < 0 || strings.IndexByte(l.rest[1:end+1], '\\') >= 0 {
		l.unsure = true
		return token{}
	}
	text := l.rest[1 : end+1]
	l.rest = l.rest[end+2:]
	return token{k, text}
}

func (l *lexer) take(n int, k kind) token {
	t := token{k, strings.Map(lower, l.rest[:n])}
	l.rest = l.rest[n:]
	return t
}

// ends is unsure of a token to which something sticks that servers of one version take for
// another token, or that the driver replaces: 1into, date$1, f@name.
func (l *lexer) ends(t token) token {
	if l.rest != "" && (part(l.rest[0]) || l.rest[0] == '$' || l.rest[0] == '@') {
		l.unsure = true
		return token{}
	}
	return t
}

// lower folds ASCII only, as the server does with names in UTF-8.
func lower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

func span(s string, in func(byte) bool) (n int) {
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func part(c byte) bool  { return letter(c) || digit(c) }
func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func digit(c byte) bool { return c >= '0' && c <= '9' }

// letter reports whether c may begin a name: Postgres takes every byte above ASCII.
func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
