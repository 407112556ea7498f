package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type nodeKind int

const (
	nullNode nodeKind = iota + 1
	boolNode
	numberNode
	stringNode
	arrayNode
	objectNode
)

// node is one JSON value with its place in the text.
type node struct {
	kind       nodeKind
	start, end int
	text       string // number: as written; string: unescaped; bool: true or false
	bad        string // string: why it is no text that Postgres can hold
	members    []member
	elems      []*node
	truncated  bool // the text ended or broke inside this value
}

type member struct {
	name string
	bad  string // why the name is no text that Postgres can hold
	at   int
	node *node // nil if the text broke before the value
}

// parser reads strict JSON (RFC 8259) into nodes. It goes as far as it can: what stands
// before the first syntax error is kept, because an error in a value before it counts
// as the first one.
type parser struct {
	src      []byte
	pos      int
	maxDepth int
	trail    []string // member names and "[n]" on the way to pos
	err      *fault
	errTrail []string
}

// parseJSON returns the value in src and the first syntax error. The value is nil if
// not even its first byte was readable.
func parseJSON(src []byte, maxDepth int) (*node, *fault) {
	root, err, _ := parseTrail(src, maxDepth)
	return root, err
}

// parseTrail also returns the way to the syntax error: member names and "[n]".
func parseTrail(src []byte, maxDepth int) (*node, *fault, []string) {
	p := &parser{src: src, maxDepth: maxDepth}
	root := p.value(0)
	if p.err == nil {
		p.space()
		if p.pos < len(p.src) {
			p.fail("data after the JSON value")
		}
	}
	return root, p.err, p.errTrail
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &fault{class: ClassDecode, detail: fmt.Sprintf(format, args...), at: p.pos}
		p.errTrail = slices.Clone(p.trail)
	}
}

func (p *parser) space() {
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) value(depth int) *node {
	p.space()
	n := &node{start: p.pos}
	switch c := p.peek(); {
	case p.pos >= len(p.src):
		p.fail("the JSON text ends early")
		return nil
	case c == '{' || c == '[':
		if depth >= p.maxDepth {
			p.fail("nested deeper than %d levels", p.maxDepth)
			return nil
		}
		if c == '{' {
			p.object(n, depth+1)
		} else {
			p.array(n, depth+1)
		}
	case c == '"':
		n.kind = stringNode
		n.text, n.bad = p.str()
	case c == '-' || c >= '0' && c <= '9':
		n.kind = numberNode
		n.text = p.number()
	default:
		p.literal(n)
	}
	n.end = p.pos
	n.truncated = p.err != nil
	return n
}

func (p *parser) literal(n *node) {
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(string(p.src[p.pos:min(len(p.src), p.pos+len(word))]), word) {
			p.pos += len(word)
			n.kind, n.text = boolNode, word
			if word == "null" {
				n.kind = nullNode
			}
			return
		}
	}
	p.fail("not a JSON value")
}

func (p *parser) object(n *node, depth int) {
	n.kind = objectNode
	p.pos++
	p.space()
	if p.peek() == '}' {
		p.pos++
		return
	}
	for {
		p.space()
		if p.peek() != '"' {
			p.fail("a member name is missing")
			return
		}
		m := member{at: p.pos}
		m.name, m.bad = p.str()
		if p.err != nil {
			return
		}
		p.space()
		if p.peek() != ':' {
			p.fail("a colon is missing")
			return
		}
		p.pos++
		p.trail = append(p.trail, m.name)
		m.node = p.value(depth)
		n.members = append(n.members, m)
		p.trail = p.trail[:len(p.trail)-1]
		if p.err != nil || p.closes('}') {
			return
		}
	}
}

func (p *parser) array(n *node, depth int) {
	n.kind = arrayNode
	p.pos++
	p.space()
	if p.peek() == ']' {
		p.pos++
		return
	}
	for i := 0; ; i++ {
		p.trail = append(p.trail, "["+strconv.Itoa(i)+"]")
		if elem := p.value(depth); elem != nil {
			n.elems = append(n.elems, elem)
		}
		p.trail = p.trail[:len(p.trail)-1]
		if p.err != nil || p.closes(']') {
			return
		}
	}
}

// closes reads a comma (false) or the closing byte or an error (true).
func (p *parser) closes(end byte) bool {
	p.space()
	switch p.peek() {
	case ',':
		p.pos++
		return false
	case end:
		p.pos++
	default:
		p.fail("a comma or a closing %q is missing", end)
	}
	return true
}

func (p *parser) number() string {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else {
		p.digits()
	}
	if p.err == nil && p.peek() == '.' {
		p.pos++
		p.digits()
	}
	if p.err == nil && (p.peek() == 'e' || p.peek() == 'E') {
		p.pos++
		if p.peek() == '+' || p.peek() == '-' {
			p.pos++
		}
		p.digits()
	}
	if c := p.peek(); p.err == nil && c >= '0' && c <= '9' {
		p.fail("a number with a leading zero")
	}
	return string(p.src[start:p.pos])
}

func (p *parser) digits() {
	start := p.pos
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
	}
	if p.pos == start {
		p.fail("a digit is missing in a number")
	}
}
