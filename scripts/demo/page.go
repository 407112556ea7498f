package main

import (
	"strconv"
	"strings"
)

// style is what a text on the screen means.
type style int

const (
	plain style = iota
	faint
	strong
	good
	alarm
	wary
)

// span is a text of one style, and line what stands beside each other.
type (
	span struct {
		text  string
		style style
	}
	line []span
)

// page is what one screen shows, from the top.
type page []line

// text is a line of one style.
func text(s style, t string) line { return line{{t, s}} }

// to fills a line with spaces up to a column.
func (l line) to(column int) line {
	return append(l, span{strings.Repeat(" ", max(0, column-l.width())), plain})
}

// add puts a text behind a line.
func (l line) add(s style, t string) line { return append(l, span{t, s}) }

// right puts a text behind a line so that it ends at a column.
func (l line) right(column int, s style, t string) line {
	return l.to(column-len([]rune(t))).add(s, t)
}

func (l line) width() (n int) {
	for _, s := range l {
		n += len([]rune(s.text))
	}
	return n
}

// cut is the part of a line that a screen of some width has room for.
func (l line) cut(width int) (out line) {
	for _, s := range l {
		t := []rune(s.text)
		t = t[:min(len(t), width)]
		width -= len(t)
		if len(t) > 0 {
			out = append(out, span{string(t), s.style})
		}
	}
	return out
}

// String is the line without its styles.
func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// commas writes n with commas.
func commas(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
