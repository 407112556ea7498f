package effect

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// admits reports whether a call for an event may begin now.
func admits(c *course, key wire.Key) bool {
	_, leave := c.admit(key, time.Second)
	if leave == nil {
		return false
	}
	leave()
	return true
}

// An effect that fails for two events trips. Then one call is made at a time, not before the pause
// is over, until one ends well. The log tells of it once a minute.
func TestCourse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c := &course{event: "Sent", log: slog.New(slog.NewTextHandler(&log, nil))}
		a, b, x, away := wire.Key{1}, wire.Key{2}, wire.Key{3}, errors.New("away")
		fail := func(key wire.Key, pause time.Duration) fare {
			f := c.ended(key, false, away)
			c.pauses(pause, 10*time.Second)
			return f
		}
		for range 2 * enough {
			if f := fail(a, time.Second); f.away {
				t.Errorf("one event alone: %+v", f)
			}
		}
		if !admits(c, x) || c.why() != nil {
			t.Error("one event alone: tripped")
		}
		if f := fail(b, time.Hour); !f.away || f.row != 2*enough+1 || admits(c, x) {
			t.Errorf("two events: %+v, or not tripped", f)
		}
		time.Sleep(10 * time.Second) // the longest pause: an hour is for the event that asks for it
		_, leave := c.admit(x, time.Second)
		if leave == nil || admits(c, a) {
			t.Fatal("behind the pause there is not one call")
		}
		time.Sleep(3 * time.Second) // it ignores its context
		if !admits(c, a) {
			t.Error("a call that does not end keeps others from trying")
		}
		leave()
		if f := c.failing(); f == nil || f.Event != "Sent" || f.Err != "away" || f.Calls != 2*enough+1 || time.Since(f.Since) != 13*time.Second {
			t.Errorf("got %+v", f)
		}
		if err := c.why(); err == nil || !strings.Contains(err.Error(), "effect Sent has been failing since 2000-01-01T00:00:00Z: away") {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Minute)
		fail(b, time.Second)
		fail(b, time.Second)
		c.ended(x, false, nil)
		if !admits(c, a) || c.failing() != nil || c.why() != nil {
			t.Error("it works, and is tripped")
		}
		fail(a, time.Second)
		time.Sleep(lasting)
		if c.why() == nil {
			t.Error("an event that fails for long is not told of")
		}
		c.ended(a, false, verdict.Permanent(away))
		if c.failing() != nil || c.why() != nil {
			t.Error("an event that is refused for good is a failure of the effect")
		}
		for text, n := range map[string]int{"an effect keeps failing": 2, "an effect succeeds again": 1, "failed_calls=13": 1} {
			if got := strings.Count(log.String(), text); got != n {
				t.Errorf("%q is said %d times, want %d: %s", text, got, n, log.String())
			}
		}
	})
}

// Who is to blame for a failure: the other side while several events fail, and none of them was
// proven to be at fault. What is not called any more proves nothing.
func TestWhoIsToBlame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, x, away := wire.Key{1}, wire.Key{2}, wire.Key{3}, errors.New("away")
		c := &course{log: slog.New(slog.DiscardHandler)}
		blames := func(what string, f fare, other, own bool) {
			t.Helper()
			if f.away != other || f.own != own {
				t.Errorf("%s: %+v", what, f)
			}
		}
		blames("the first one", c.ended(a, false, away), false, false)
		blames("a second one", c.ended(b, false, away), true, false)
		blames("the first one again", c.ended(a, false, away), true, false)
		c.ended(x, false, nil)
		blames("behind a call that ended well", c.ended(a, false, away), false, true)
		blames("and the second one", c.ended(b, false, away), false, true)
		blames("a third one beside them", c.ended(x, false, away), false, false)
		blames("beside it, one of them", c.ended(a, false, away), true, true)
		c.gone(x, false)
		blames("right behind a dead letter", c.ended(b, false, away), true, true)
		time.Sleep(lasting)
		blames("long behind a dead letter", c.ended(b, false, away), false, true)
		c.gone(a, false)
		c.gone(b, false)
		if c.failing() != nil {
			t.Error("it fails although nothing is called")
		}
		time.Sleep(lasting)
		for range 2 * enough {
			blames("one that fails alone", c.ended(a, false, away), false, false)
		}
		c.gone(a, false)
		time.Sleep(lasting)
		blames("the next one, alone", c.ended(b, false, away), false, false)
		c.gone(b, false)
		time.Sleep(lasting)
		c.ended(x, false, away)
		blames("one that was counted by a process before", c.ended(a, true, away), true, true)
		c.gone(x, true)
		time.Sleep(lasting)
		blames("beside one that was interrupted", c.ended(b, false, away), true, false)
		c.ended(a, false, &unreadError{away})
		blames("behind an answer that cannot be read", c.ended(b, false, away), false, true)
	})
}

// While an effect is tripped, the turn to try is that of the event that failed least often: one
// that always fails keeps no other one from being tried.
func TestEventsTakeTurnsToTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &course{log: slog.New(slog.DiscardHandler)}
		a, b, away := wire.Key{1}, wire.Key{2}, errors.New("away")
		for range enough {
			c.ended(a, false, away)
			c.ended(b, false, away)
		}
		c.pauses(time.Second, time.Second)
		good, later, ends := wire.Key{3}, wire.Key{4}, wire.Key{5}
		for _, key := range []wire.Key{ends, good, later, a, b} { // too early for all
			if admits(c, key) {
				t.Fatal("not tripped")
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		c.gone(ends, false)
		for what, key := range map[string]wire.Key{"one that fails": a, "the other one that fails": b, "the one that came last": later} {
			if admits(c, key) {
				t.Errorf("%s goes before the one that waits longest", what)
			}
		}
		if !admits(c, good) || !admits(c, later) {
			t.Error("those that never failed are not tried")
		}
		if !admits(c, a) || !admits(c, b) {
			t.Error("those that fail are never tried")
		}
	})
}

// An effect trips with the fifth failure in a row, if they are of at least two events. Of calls
// whose outcome is unknown the tenth proves something only for a while.
func TestCourseCountsFailuresAndEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		c := &course{log: slog.New(slog.DiscardHandler)}
		for n := range enough {
			if c.tripped() {
				t.Fatalf("tripped after %d failures", n)
			}
			c.ended(wire.Key{byte(1 + min(n, 1))}, false, away)
		}
		if !c.tripped() {
			t.Errorf("not tripped after %d failures of two events", enough)
		}
		c = &course{log: slog.New(slog.DiscardHandler)}
		for n := range 2 * enough {
			key := wire.Key{1, byte(n)}
			c.ended(key, false, away)
			c.gone(key, true)
		}
		before := c.unproven(wire.Key{})
		time.Sleep(lasting)
		if after := c.unproven(wire.Key{}); after != 2*enough-1 || before != 2*enough {
			t.Errorf("%d of %d events prove something for ever, want all but the last", after, before)
		}
	})
}
