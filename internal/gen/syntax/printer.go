package syntax

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/internal/visible"
)

// maxPrinted is how many problems of one file are printed: nobody reads more in one go.
const maxPrinted = 100

// Print writes the problems of one file: position, code and message, the line with a
// caret under the token, the hint; the first hundred, and how many there are beside. File
// is the path as the user gave it; data is the file's content.
func (ds Diagnostics) Print(w io.Writer, file string, data []byte) error {
	p := printer{source: newSource(data), file: filepath.ToSlash(file), masks: sortedMasks(ds.masked)}
	sorted := ds.Sorted()
	more := len(sorted) - maxPrinted
	if more > 0 {
		sorted = sorted[:maxPrinted]
	}
	for _, d := range sorted {
		p.diagnostic(d)
	}
	if more > 0 {
		fmt.Fprintf(&p.out, "%s: problems that are not shown: %d\n", p.file, more)
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

// Summary counts the errors of a run, n > 0, for its last line.
func Summary(n int) string {
	if n == 1 {
		return "1 problem found"
	}
	return fmt.Sprintf("%d problems found", n)
}

type printer struct {
	source
	file  string
	masks []Pos // values not to be shown, in file order
	out   strings.Builder
}

func (p *printer) diagnostic(d Diagnostic) {
	if d.Pos.Line < 1 {
		fmt.Fprintf(&p.out, "%s: %s: %s\n", p.file, d.Code, d.Message)
	} else {
		fmt.Fprintf(&p.out, "%s:%d:%d: %s: %s\n", p.file, d.Pos.Line, d.Pos.Col, d.Code, d.Message)
		p.excerpt(d.Pos)
	}
	if d.Hint != "" {
		fmt.Fprintf(&p.out, "      = hint: %s\n", d.Hint)
	}
}

// The widest excerpt, and how much of it stands before the caret if it had to be cut.
const (
	excerptWidth  = 240
	excerptBefore = 100
)

func (p *printer) excerpt(pos Pos) {
	if pos.Line > len(p.lines) {
		return
	}
	line, start := p.masked(pos)
	start = min(start, len(line))
	from, to := 0, len(line)
	before, after := "", ""
	if len(line) > excerptWidth {
		if from = start - excerptBefore; from > 0 {
			before = "..."
		}
		from = max(from, 0)
		if to = from + excerptWidth; to < len(line) {
			after = "..."
		}
		to = min(to, len(line))
	}
	width := max(1, min(pos.Width, to-start))
	text := before + shown(line[from:to]) + after
	fmt.Fprintf(&p.out, "%s\n", strings.TrimRight(fmt.Sprintf("%5d | %s", pos.Line, text), " "))
	fmt.Fprintf(&p.out, "      | %s%s\n", strings.Repeat(" ", len(before)+start-from), strings.Repeat("^", width))
}

// masked returns the line of pos with the values beside environment keys hidden, and
// the index at which pos stands then.
func (p *printer) masked(pos Pos) ([]rune, int) {
	const mask = "***"
	source, start := p.lines[pos.Line-1], pos.Col-1
	var line []rune
	done := 0
	for _, m := range p.masks {
		from := m.Col - 1
		to := min(from+m.Width, len(source))
		if m.Line != pos.Line || from < done || from >= len(source) {
			continue
		}
		if pos.Col-1 >= to {
			start += len(mask) - (to - from)
		}
		line = append(append(line, source[done:from]...), []rune(mask)...)
		done = to
	}
	return append(line, source[done:]...), start
}

func sortedMasks(masks []Pos) []Pos {
	return slices.SortedFunc(slices.Values(masks), func(a, b Pos) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

// shown makes a piece of the file safe for a terminal, one column per character.
func shown(text []rune) string {
	out := make([]rune, len(text))
	for i, r := range text {
		out[i] = seen(r)
	}
	return string(out)
}

// seen is a character of one column: a blank for a tab, U+FFFD for a hidden one.
func seen(r rune) rune {
	switch {
	case r == '\t', r == '\n':
		return ' '
	case visible.Hidden(r):
		return unicode.ReplacementChar
	}
	return r
}
