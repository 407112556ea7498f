package syntax

import (
	"bytes"
	"strings"
)

// Format lays a spec or a case out: two spaces for each level, lists deeper than their key, one
// space behind a colon and a comma and none inside of brackets, at most one empty line, LF. Order,
// quotes, comments and what stands on one line are the author's. The problems are those of a file
// that cannot be read.
func Format(data []byte) ([]byte, Diagnostics) {
	was, problems := Parse(data)
	if problems.Errors() > 0 || was == nil {
		return data, problems
	}
	l := layout{lines: strings.Split(strings.TrimRight(strings.ReplaceAll(string(data), "\r\n", "\n"), " \t\n"), "\n")}
	l.indents = make([]int, len(l.lines))
	for i := range l.indents {
		l.indents[i] = unknown
	}
	l.verbatim = make([]bool, len(l.lines))
	l.node(was, 0)
	out := []byte(l.String())
	if is, _ := Parse(out); !same(was, is) {
		problems.Add(Pos{Line: 1, Col: 1, Width: 1}, "E102", "this file cannot be laid out without a change of its meaning", "leave it as it is, and report this")
		return data, problems
	}
	return out, problems
}

// unknown is the indentation of a line that begins no key and no item of a list.
const unknown = -1

// layout is a file on its way.
type layout struct {
	lines    []string
	indents  []int  // that each line shall have
	verbatim []bool // lines inside of a text
}

// node says how far the lines of a node are indented. What stands in brackets is not looked into.
func (l *layout) node(n *Node, indent int) {
	switch {
	case n.flow:
		return
	case n.block:
		l.text(n.Pos.Line)
	}
	for _, item := range n.Items {
		l.begins(item.Pos.Line, indent)
		l.node(item, indent+2)
	}
	for _, p := range n.Pairs {
		l.begins(p.KeyPos.Line, indent)
		l.node(p.Value, indent+2)
	}
}

// begins says how far a line is indented, unless it began with something else.
func (l *layout) begins(line, indent int) {
	if l.indents[line-1] == unknown {
		l.indents[line-1] = indent
	}
}

// text finds the lines of a text that begins behind a line. They are the author's, but for their
// indentation.
func (l *layout) text(line int) {
	key := indentation(l.lines[line-1])
	for i := line; i < len(l.lines); i++ {
		if strings.Trim(l.lines[i], " \t") != "" && indentation(l.lines[i]) <= key {
			return
		}
		l.verbatim[i] = true
	}
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// String is the file, laid out.
func (l *layout) String() string {
	var b strings.Builder
	shift, empty := 0, true // of the last line that began something; whether the last line is empty
	var in brackets
	for i, line := range l.lines {
		switch trimmed := strings.Trim(line, " \t"); {
		case l.verbatim[i]:
			line = strings.Repeat(" ", max(0, indentation(line)+shift)*min(1, len(trimmed))) + strings.TrimLeft(line, " ")
		case trimmed == "":
			if empty {
				continue
			}
			line = ""
		case l.indents[i] != unknown:
			shift = l.indents[i] - indentation(line)
			line = strings.Repeat(" ", l.indents[i]) + in.spaced(trimmed)
		case trimmed[0] == '#' && in.depth == 0:
			line = strings.Repeat(" ", l.comment(i)) + trimmed
		default: // goes on
			line = strings.Repeat(" ", max(0, indentation(line)+shift)) + in.spaced(trimmed)
		}
		empty = line == "" && !l.verbatim[i]
		b.WriteString(line + "\n")
	}
	return b.String()
}

// comment is how far a comment on a line of its own is indented: as the next line that begins
// something, unless it stood below a line before, and not above that one.
func (l *layout) comment(i int) int {
	old, behind := indentation(l.lines[i]), l.near(i, 1)
	if behind >= 0 && indentation(l.lines[behind]) == old {
		return l.indents[behind]
	}
	for before := l.near(i, -1); before >= 0 && indentation(l.lines[before]) >= old; before = l.near(before, -1) {
		if indentation(l.lines[before]) == old {
			return l.indents[before]
		}
	}
	if behind < 0 {
		return 0
	}
	return l.indents[behind]
}

// near is the next line in a direction that begins something; -1 if there is none.
func (l *layout) near(i, step int) int {
	for i += step; i >= 0 && i < len(l.lines); i += step {
		if l.indents[i] != unknown {
			return i
		}
	}
	return -1
}

// brackets is where in { } and [ ] a line ends.
type brackets struct {
	depth int
	quote byte // that is open; 0 if none
}

// spaced is a line with one space behind each comma and colon, and none inside of brackets.
func (in *brackets) spaced(line string) string {
	var out []byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		if in.quote != 0 {
			out = append(out, c)
			switch {
			case i+1 < len(line) && (c == '\\' && in.quote == '"' || c == '\'' && in.quote == c && line[i+1] == c):
				i++
				out = append(out, line[i])
			case c == in.quote:
				in.quote = 0
			}
			continue
		}
		if c == '#' && (i == 0 || line[i-1] == ' ') {
			gap := i - len(strings.TrimRight(line[:i], " "))
			return string(bytes.TrimRight(out, " ")) + strings.Repeat(" ", gap) + line[i:]
		}
		before := byte(0)
		if kept := bytes.TrimRight(out, " "); len(kept) > 0 {
			before = kept[len(kept)-1]
		}
		switch {
		case (c == '"' || c == '\'') && (before == 0 || out[len(out)-1] == ' ' || strings.IndexByte("{[,", before) >= 0):
			in.quote = c
		case c == '{' || c == '[':
			if in.depth > 0 || before == 0 || before == ':' || before == '-' {
				in.depth++
			}
		case in.depth > 0 && (c == '}' || c == ']'):
			in.depth--
			if before != ',' && before != ':' {
				out = bytes.TrimRight(out, " ")
			}
		case in.depth > 0 && c == ',' && before != ':':
			out = bytes.TrimRight(out, " ")
		case c == ' ' && len(out) > 0 && in.needless(out, before):
			continue
		}
		if in.depth > 0 && before == ',' && out[len(out)-1] == ',' && c != ' ' {
			out = append(out, ' ')
		}
		out = append(out, c)
	}
	return string(bytes.TrimRight(out, " "))
}

// needless reports whether a space that follows out, which ends in the byte before but for
// spaces, is one too many.
func (in *brackets) needless(out []byte, before byte) bool {
	last := out[len(out)-1]
	if in.depth > 0 && (last == '{' || last == '[') {
		return true
	}
	return last == ' ' && (before == ':' || in.depth > 0 && before == ',' || len(bytes.Trim(out, "- ")) == 0)
}

// same reports whether two files say the same, in the same order.
func same(a, b *Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Text != b.Text || a.Quoted != b.Quoted || len(a.Items) != len(b.Items) || len(a.Pairs) != len(b.Pairs) {
		return false
	}
	for i := range a.Items {
		if !same(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for i := range a.Pairs {
		if a.Pairs[i].Key != b.Pairs[i].Key || !same(a.Pairs[i].Value, b.Pairs[i].Value) {
			return false
		}
	}
	return true
}
