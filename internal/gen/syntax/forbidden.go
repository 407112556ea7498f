package syntax

import (
	"fmt"
	"slices"
	"strings"
)

const (
	sharedHint = `name the shared part under "types" or repeat it`
	blankHint  = `write a space after the ":"`
)

// properties reports the anchor and the tag that a node starts with, or the alias that it
// is (E102). An alias that stands several times on a line is reported once.
func (b *builder) properties(pos Pos) {
	rest := b.rest(pos)
	for i := 0; i < len(rest); i++ {
		what, hint := "anchors", sharedHint
		switch rest[i] {
		case ' ', '\t':
			continue
		case '&':
		case '*':
			what = "aliases"
		case '!':
			what, hint = "tags", "remove it: every value is read as the type that its key expects"
		default:
			return
		}
		from := i
		for i < len(rest) && !isBlank(rest[i]) && !slices.Contains([]rune(",[]{}"), rest[i]) {
			i++
		}
		name := string(rest[from:i])
		if name[0] == '*' {
			if b.alias == (alias{name, pos.Line}) {
				return
			}
			b.alias = alias{name, pos.Line}
		}
		b.ds.Add(Pos{Line: pos.Line, Col: pos.Col + from, Width: i - from}, "E102",
			fmt.Sprintf("YAML %s are not allowed (%s)", what, short(name)), hint)
	}
}

// alias is an alias on a line.
type alias struct {
	name string
	line int
}

// cutTexts finds texts inside of { } or [ ] that are not what they look like (E113): one that
// a comma has cut inside its parentheses, as in numeric(12,2), and a:b without a blank. Texts
// holds the key and the value of each entry of a map, or each item of a list alone.
func (b *builder) cutTexts(kind NodeKind, texts [][]*Node) {
	inside := "{ }"
	if kind == ListNode {
		inside = "[ ]"
	}
	before := &Node{}
	for _, entry := range texts {
		first, last := entry[0], entry[0]
		if len(entry) == 2 && !b.without(entry[0]) {
			last = entry[1]
		} else if len(entry) == 2 && strings.Contains(first.Text, ":") {
			b.ds.Add(first.Pos, "E113", "YAML reads "+quote(first.Text)+" as one text, not as a key and a value", blankHint)
		}
		if parentheses(before) > 0 && parentheses(first) < 0 {
			what := "the value"
			if strings.Contains(before.Text, "numeric(") || strings.Contains(before.Text, "decimal(") {
				what = "the type"
			}
			b.ds.Add(first.Pos, "E113", "inside "+inside+" a comma ends the value, so "+what+" was cut in two",
				"quote it: "+quote(before.Text+","+first.Text))
		}
		before = last
	}
}

// without reports whether a key stands inside of { } alone, with no ":" behind it.
func (b *builder) without(key *Node) bool {
	end := key.Pos
	end.Col += key.Pos.Width
	for _, r := range b.rest(end) {
		if r != ' ' && r != '\t' {
			return key.Kind == ScalarNode && !key.Quoted && (r == ',' || r == '}')
		}
	}
	return false
}

// parentheses counts those that a text without quotes opens and does not close.
func parentheses(n *Node) int {
	if n.Kind != ScalarNode || n.Quoted {
		return 0
	}
	return strings.Count(n.Text, "(") - strings.Count(n.Text, ")")
}
