package lag

import "testing"

// What was appended before an end of the log was asked for has been read once the position has
// passed that end; not when time passes, nor when the log grows.
func TestSeenIsWhenTheEndThatWasReachedWasAskedFor(t *testing.T) {
	g := &Gauge{}
	seen := func(what string, minutes int) {
		t.Helper()
		if got := g.Seen(); minutes < 0 && !got.IsZero() || minutes >= 0 && !got.Equal(at(minutes)) {
			t.Errorf("%s: seen at %v, want minute %d", what, got, minutes)
		}
	}
	g.End(10, at(1), at(2))
	seen("the position is not known", -1)
	g.At(4, at(3))
	seen("behind", -1)
	g.End(20, at(4), at(5))
	g.At(12, at(6))
	seen("past the first end", 1)
	g.End(20, at(90), at(91))
	seen("time passed", 1)
	g.At(20, at(92))
	seen("at the end", 90)
	g.End(20, at(93), at(94))
	seen("still at the end", 93)
	g.End(20, at(3), at(95))
	seen("an older answer", 93)
	g.At(7, at(96))
	seen("set back", -1)
	g.At(20, at(97))
	seen("again at an end that was forgotten", -1)
	for n := range 1000 { // far behind, for long: few marks are kept, and the last one always
		g.End(int64(30+n), at(100+n), at(100+n))
	}
	if len(g.marks) > mostMarks {
		t.Errorf("%d marks", len(g.marks))
	}
	g.At(700, at(2000))
	if got := g.Seen(); got.After(at(770)) || got.Before(at(700)) {
		t.Errorf("in the middle: seen at %v, want at most minute 770", got)
	}
	g.At(1029, at(2001))
	seen("at the end again", 1099)
}
