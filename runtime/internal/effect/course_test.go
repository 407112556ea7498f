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

// admits reports whether a call may begin now.
func admits(c *course) bool {
	_, leave := c.admit()
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
		a, b, away := wire.Key{1}, wire.Key{2}, errors.New("away")
		for range 2 * enough {
			c.ended(a, away, time.Second)
		}
		if n, tripped := c.inARow(); n != 2*enough || tripped || !admits(c) || c.why() != nil {
			t.Errorf("one event alone: %d in a row, tripped %t", n, tripped)
		}
		c.ended(b, away, 10*time.Second)
		if _, tripped := c.inARow(); !tripped || admits(c) {
			t.Error("two events: not tripped")
		}
		time.Sleep(10 * time.Second)
		_, leave := c.admit()
		if leave == nil || admits(c) {
			t.Fatal("behind the pause there is not one call")
		}
		leave()
		if f := c.failing(); f == nil || f.Event != "Sent" || f.Err != "away" || f.Calls != 2*enough+1 || time.Since(f.Since) != 10*time.Second {
			t.Errorf("got %+v", f)
		}
		if err := c.why(); err == nil || !strings.Contains(err.Error(), "effect Sent fails since 2000-01-01T00:00:00Z: away") {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Minute)
		c.ended(b, away, time.Second)
		c.ended(b, away, time.Second)
		c.ended(a, nil, 0)
		if _, tripped := c.inARow(); tripped || !admits(c) || c.failing() != nil || c.why() != nil {
			t.Error("it works, and is tripped")
		}
		c.ended(a, away, time.Second)
		time.Sleep(lasting)
		if c.why() == nil {
			t.Error("an event that fails for long is not told of")
		}
		c.ended(a, verdict.Permanent(away), 0)
		if c.failing() != nil || c.why() != nil {
			t.Error("an event that is refused for good is a failure of the effect")
		}
		for text, n := range map[string]int{"an effect fails": 2, "an effect works again": 1, "failed_calls=13": 1} {
			if got := strings.Count(log.String(), text); got != n {
				t.Errorf("%q is said %d times, want %d: %s", text, got, n, log.String())
			}
		}
	})
}
