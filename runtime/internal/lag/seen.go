package lag

import (
	"slices"
	"time"
)

// mark is an end of the log: all records that were appended before after are below it.
type mark struct {
	end   int64
	after time.Time
}

// mostMarks is how many ends of the log are kept that the position has not reached. Of more,
// every second one is dropped, and of those to come: then it is known later what the position has
// passed.
const mostMarks = 64

// Seen returns the time before which every record was appended that the log had: all of these are
// below the position. It is zero if that is not known. A partition that is behind, or is not read,
// stays at the time that it has reached.
func (g *Gauge) Seen() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen
}

// mark keeps an end of the log until the position reaches it.
func (g *Gauge) mark(end int64, after time.Time) {
	last := g.seen
	if n := len(g.marks); n > 0 {
		last = g.marks[n-1].after
	}
	if !after.After(last) {
		return
	}
	if n := len(g.marks); n > 1 && g.passing < g.every || n > 0 && g.marks[n-1].end == end {
		g.marks[n-1] = mark{end, after} // the newest one is kept until another takes its place
		g.passing++
	} else {
		g.marks = append(g.marks, mark{end, after})
		g.passing = 1
	}
	if len(g.marks) > mostMarks {
		n := 0
		g.marks = slices.DeleteFunc(g.marks, func(mark) bool { n++; return n%2 == 0 })
		g.every = max(1, g.every) * 2
	}
	g.reach()
}

// reach drops the marks that the position has reached.
func (g *Gauge) reach() {
	if !g.known {
		return
	}
	n := 0
	for n < len(g.marks) && g.marks[n].end <= g.position {
		g.seen = g.marks[n].after
		n++
	}
	if g.marks = g.marks[n:]; len(g.marks) == 0 {
		g.every = 0
	}
}
