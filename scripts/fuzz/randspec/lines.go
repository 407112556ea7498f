// Package randspec writes specs at random: tables, topics, events and steps of every verb, as
// text. What a spec may not say it knows by asking: it takes out what idemgen refuses until
// nothing is refused. It imports schema and internal/gen/resolve, and nothing that generates code.
package randspec

import (
	"slices"
	"strings"
)

// part is a piece of a spec that can be taken out: a table, a topic, an event, a field, a step or
// one key of them. Its lines come before those of its parts, and those of its tail behind them.
type part struct {
	lines []string
	parts []*part
	// needed is a part without which the one around it goes, too.
	needed bool
}

func leaf(text string) *part       { return &part{lines: []string{text}} }
func need(text string) *part       { return &part{lines: []string{text}, needed: true} }
func (p *part) add(parts ...*part) { p.parts = append(p.parts, parts...) }
func (p *part) write(b *strings.Builder, indent int) {
	for _, line := range p.lines {
		b.WriteString(strings.Repeat("  ", indent) + line + "\n")
	}
	for _, inner := range p.parts {
		inner.write(b, indent+1)
	}
}

func (p *part) String() string {
	var b strings.Builder
	for _, top := range p.parts {
		top.write(&b, 0)
	}
	return b.String()
}

// copy is the part with parts of its own.
func (p *part) copy() *part {
	c := &part{lines: p.lines, needed: p.needed}
	for _, inner := range p.parts {
		c.add(inner.copy())
	}
	return c
}

// count is the number of lines of the part.
func (p *part) count() int {
	n := len(p.lines)
	for _, inner := range p.parts {
		n += inner.count()
	}
	return n
}

// at returns the parts around a line, the outermost first; line counts from 0 at the part's first.
func (p *part) at(line int) []*part {
	if line < len(p.lines) {
		return []*part{p}
	}
	line -= len(p.lines)
	for _, inner := range p.parts {
		n := inner.count()
		if line < n {
			return append([]*part{p}, inner.at(line)...)
		}
		line -= n
	}
	return nil
}

// without takes out the innermost part of a path, and each one around it that cannot be without
// what was taken out. It reports whether anything but the whole spec was left to take.
func without(path []*part) bool {
	for i := len(path) - 1; i > 0; i-- {
		p, around := path[i], path[i-1]
		around.parts = slices.DeleteFunc(around.parts, func(x *part) bool { return x == p })
		if !p.needed && (len(around.parts) > 0 || i == 1) {
			return i > 1
		}
	}
	return false
}
