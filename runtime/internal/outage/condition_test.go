package outage

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A fault is logged when it begins, once a minute while it lasts, and when it is over.
func TestFaultIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines strings.Builder
		log := slog.New(slog.NewTextHandler(&lines, nil))
		condition := &Condition{}
		want := func(when string, faults, ends int) {
			t.Helper()
			synctest.Wait()
			condition.mu.Lock() // lines are written under it
			defer condition.mu.Unlock()
			if f, e := strings.Count(lines.String(), "makes no progress"), strings.Count(lines.String(), "makes progress"); f != faults || e != ends {
				t.Errorf("%s: %d lines of the fault and %d of its end, want %d and %d", when, f, e, faults, ends)
			}
		}
		for range 10 {
			condition.Set(log, errors.New("down"))
			time.Sleep(time.Second)
		}
		want("it begins", 1, 0)
		time.Sleep(3 * time.Minute)
		want("it lasts", 4, 0)
		condition.Set(log, nil)
		time.Sleep(3 * time.Minute)
		want("it is over", 4, 1)
		condition.Set(log, errors.New("down"))
		condition.Set(nil, errors.New("the run has ended"))
		time.Sleep(3 * time.Minute)
		want("the run has ended", 5, 1)
		condition.Set(log, errors.New("down"))
		want("the next run begins", 6, 1)
	})
}

// Health reports each reason immediately. The log does not have those with which every start
// begins, unless they last. Other reasons that usually end by themselves are logged, and become
// errors if they last. A fault is logged as an error immediately.
func TestWhatAStartBeginsWithIsLoggedIfItLasts(t *testing.T) {
	early := &Reason{Do: "wait", Waits: true, Err: errors.New("not yet")}
	joining := &Reason{Do: "wait", Waits: true, Err: errors.New("joining")}
	for name, c := range map[string]struct {
		then func(*Condition, *slog.Logger)
		want string
	}{
		"it passes":        {func(c *Condition, log *slog.Logger) { c.Set(log, nil) }, ""},
		"it is taken back": {func(c *Condition, _ *slog.Logger) { c.End(early) }, ""},
		"it lasts":         {func(c *Condition, log *slog.Logger) { c.Set(log, early) }, "makes no progress: not yet do=wait"},
		"it waits further": {func(c *Condition, log *slog.Logger) { c.Set(log, joining) }, "waits: joining, makes no progress: joining do=wait"},
		"a fault is":       {func(c *Condition, log *slog.Logger) { c.Set(log, errors.New("down")) }, "makes no progress: down do=wait: the runtime keeps retrying; if it lasts, remove the cause"},
		"and both": {func(c *Condition, log *slog.Logger) {
			c.Set(log, &Reason{Do: "mend", Err: errors.New("down")})
			c.Set(log, early)
		}, "makes no progress: down do=mend, waits: not yet, makes no progress: not yet do=wait"},
		"it waits after progress": {func(c *Condition, log *slog.Logger) {
			c.Set(log, nil)
			c.Set(log, joining)
		}, "makes no progress: joining do=wait"},
		"it waits after long": {func(c *Condition, log *slog.Logger) {
			time.Sleep(10 * time.Second)
			c.Set(log, joining)
		}, "makes no progress: not yet do=wait, makes no progress: joining do=wait"},
		"a fault is taken back": {func(c *Condition, log *slog.Logger) {
			down := errors.New("down")
			c.Set(log, down)
			c.End(errors.New("another"))
			time.Sleep(time.Second)
			c.End(down)
		}, "makes no progress: down do=wait: the runtime keeps retrying; if it lasts, remove the cause, makes progress"},
		"for long": {func(c *Condition, log *slog.Logger) {
			time.Sleep(time.Minute)
			c.Set(log, nil)
		}, "makes no progress: not yet do=wait, makes progress"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines strings.Builder
				log := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
					if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
						return slog.Attr{}
					}
					return a
				}}))
				condition := &Condition{}
				defer condition.Begin(log, early, 5*time.Second)()
				if _, why := condition.Why(); why != early {
					t.Error("it is not told at once")
				}
				c.then(condition, log)
				time.Sleep(30 * time.Second)
				synctest.Wait()
				got := strings.NewReplacer("msg=\"the service ", "", "\" reason=", ": ", "\"", "", "\n", ", ").Replace(lines.String())
				if got = strings.TrimSuffix(got, ", "); got != c.want {
					t.Errorf("the log says %q, want %q", got, c.want)
				}
			})
		})
	}
}

// A reason has begun when it was first given, and its line is not repeated once nobody waits.
func TestReasonHasABeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines strings.Builder
		log := slog.New(slog.NewTextHandler(&lines, nil))
		c, start := &Condition{}, time.Now()
		stop := c.Begin(log, errors.New("starting"), time.Hour)
		for n, step := range []struct {
			why   error
			since time.Duration
		}{{errors.New("down"), time.Second}, {errors.New("down"), time.Second}, {errors.New("locked"), 3 * time.Second}, {nil, 3 * time.Second}, {errors.New("locked"), 5 * time.Second}} {
			time.Sleep(time.Second)
			c.Set(log, step.why)
			if since, why := c.Why(); why != step.why || since.Sub(start) != step.since {
				t.Errorf("step %d: %v since %v, want %v", n, why, since.Sub(start), step.since)
			}
		}
		stop()
		n := strings.Count(lines.String(), "makes no progress")
		time.Sleep(10 * time.Minute)
		if again := strings.Count(lines.String(), "makes no progress"); n != 3 || again != n {
			t.Errorf("%d lines, then %d", n, again)
		}
		c.Set(log, nil) // which waits for nobody
	})
}
