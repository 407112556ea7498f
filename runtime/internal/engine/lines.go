package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
)

// linesOf returns the lines of a request. Requests of the same line are carried out one after
// another: those with the same record key, and those with the same offset, which has several
// letters if it was read again.
func linesOf(l *deadletter.Open) []string {
	lines := []string{strconv.FormatInt(l.Offset, 10)}
	if l.OrderKey != nil {
		lines = append(lines, l.OrderKey.String())
	}
	return lines
}

// heldUp reports whether a request is behind one that waits.
func heldUp(l *deadletter.Open, held map[string]bool) bool {
	return slices.ContainsFunc(linesOf(l), func(line string) bool { return held[line] })
}

// hold marks lines as held up.
func hold(held map[string]bool, lines []string) {
	for _, line := range lines {
		held[line] = true
	}
}

// holdUp marks the lines of a request that was attempted as held up, if it waits. If it is done,
// its effect is dropped: another letter with the same offset has its own.
func (e *errands) holdUp(l *deadletter.Open, held map[string]bool) {
	known := e.tried[placeOf(l)]
	if known != nil && time.Now().Before(known.after) {
		hold(held, known.lines)
		return
	}
	if e.desk != nil {
		e.desk.Forget(func(offset int64) bool { return offset == l.Offset })
	}
}

// calling reports whether the effect of a request is known to be running. The check needs no
// transaction, however many requests there are.
func (e *errands) calling(l *deadletter.Open, held map[string]bool) bool {
	known := e.tried[placeOf(l)]
	if known == nil || !known.calls || !known.asked.Equal(l.AskedAt) || e.desk == nil || !e.desk.Runs(l.Offset) {
		return false
	}
	known.look()
	hold(held, known.lines)
	return true
}
