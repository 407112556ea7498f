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
	g.End(15, at(2), at(5)) // an older answer
	g.End(16, at(4), at(5)) // and one of the same time
	g.At(16, at(5))
	seen("past an end of an older answer", 1)
	g.At(12, at(6)) // back
	g.End(20, at(7), at(8))
	g.End(20, at(9), at(8))
	if len(g.marks) != 1 {
		t.Errorf("%d marks of one end", len(g.marks))
	}
	g.At(13, at(9))
	seen("behind again", -1)
	g.At(20, at(10))
	seen("past the end that was asked for twice", 9)
	g.End(20, at(90), at(91))
	seen("time passed", 90)
	g.At(20, at(92))
	seen("at the end", 90)
	g.End(20, at(93), at(94))
	seen("still at the end", 93)
	g.At(20, at(94))
	seen("at the same position", 93)
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
	for n := range mostMarks {
		g.End(int64(2000+n), at(3000+n), at(3000+n))
	}
	if len(g.marks) != mostMarks {
		t.Errorf("%d marks of %d ends", len(g.marks), mostMarks)
	}
	g.At(2001, at(4000))
	seen("past two of them", 3001)
	for n := range 4 {
		g.End(int64(2000+mostMarks+n), at(5000+n), at(5000+n))
	}
	if n := len(g.marks); n != (mostMarks+2)/2 || g.marks[n-1].after != at(5003) {
		t.Errorf("%d marks after every second was dropped: %v", n, g.marks)
	}
}
