package outbox

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// purges counts how often a producer was asked to give up.
type purges struct {
	sends
	n    int
	then func()
}

func (p *purges) Purge() {
	p.n++
	if p.then != nil {
		p.then()
	}
}

// TestFlush: a relay that ends waits for what is on its way, up to five seconds, and sends nothing
// else.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			answers int
			want    time.Duration
		}{"answered": {2, 2 * time.Second}, "not answered": {1, flushFor}, "nothing is on its way": {-1, 0}} {
			l, to := leading()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if c.answers >= 0 {
				l.reads(eventOf(1, "a", "t", 1), eventOf(2, "a", "t", 1), eventOf(3, "b", "t", 1), eventOf(4, "b", "t", 1))
				l.sendFirsts()
			}
			to.take()
			for n := range c.answers {
				time.AfterFunc(time.Duration(n+1)*time.Second, func() { l.done <- outcome{int64(1 + 2*n), errRefused} })
			}
			began := time.Now()
			expect(t, name, l.flush(ctx), nil)
			expect(t, name+": it took", time.Since(began), c.want)
			expect(t, name+": sent", to.take(), "")
		}
		l, to := leading()
		l.reads(eventOf(1, "a", "t", 1), eventOf(2, "a", "t", 1))
		l.sendFirsts()
		to.take()
		l.lines = firsts(l.lines)
		l.answer(1, nil)
		expect(t, "sent after an acknowledgement", to.take(), "")
	})
}

// TestFlushHearsPostgres: a relay that ends waits for the answer of Postgres first, up to five
// seconds; a failure ends it.
func TestFlushHearsPostgres(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		for name, c := range map[string]struct {
			after time.Duration
			err   error
			want  error
			took  time.Duration
		}{
			"answered": {time.Second, nil, nil, time.Second}, "failed": {time.Second, gone, gone, time.Second},
			"not answered": {time.Hour, nil, context.Canceled, flushFor},
		} {
			l, _ := leading()
			taken := false
			l.ask(func(ctx context.Context) (func(), error) {
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(c.after):
					return func() { taken = true }, c.err
				}
			})
			began := time.Now()
			if err := l.flush(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
			expect(t, name+": it took", time.Since(began), c.took)
			expect(t, name+": taken", taken, c.want == nil)
		}
	})
}

// TestAbandon: a relay that loses its lead has its producer give up what is on its way, and waits
// for that up to five seconds. It gives up what it asked.
func TestAbandon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			sent, answers, purged int
			want                  time.Duration
		}{"nothing": {}, "given up": {2, 2, 1, time.Second}, "not given up": {2, 1, 1, flushFor}} {
			l, _ := leading()
			to := &purges{then: func() {
				for n := range c.answers {
					time.AfterFunc(time.Second, func() { l.done <- outcome{int64(n), errors.New("purged")} })
				}
			}}
			l.Producer = to
			for n := range c.sent {
				l.reads(eventOf(int64(n), fmt.Sprint(n), "t", 1))
			}
			l.sendFirsts()
			ended := false
			l.ask(func(ctx context.Context) (func(), error) {
				<-ctx.Done()
				ended = true
				return nil, ctx.Err()
			})
			began := time.Now()
			l.abandon()
			expect(t, name+": it took", time.Since(began), c.want)
			expect(t, name+": purged", to.n, c.purged)
			expect(t, name+": what it asked ended", ended, true)
			expect(t, name+": on their way", len(l.sent), c.sent-c.answers)
		}
	})
}

// TestTalk: an answer has a time limit, is of the time when it was asked, and a panic is one.
func TestTalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTalk(tenure{since: time.Now()}, time.Second)
		began := time.Now()
		time.Sleep(time.Second - 1)
		expect(t, "over", s.mayBeOver(), false)
		time.Sleep(time.Nanosecond)
		expect(t, "over after a second", s.mayBeOver(), true)
		expect(t, "quiet", s.quiet(t.Context()), nil)

		s.ask(func(ctx context.Context) (func(), error) { <-ctx.Done(); return nil, ctx.Err() })
		expect(t, "busy", s.busy, true)
		if err := s.quiet(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a slow answer: %v", err)
		}
		expect(t, "it took", time.Since(began), 2*time.Second)
		s.ask(func(context.Context) (func(), error) { panic("x") })
		if err := s.quiet(t.Context()); err == nil || err.Error() != "the relay panicked: x" {
			t.Errorf("a panic: %v", err)
		}
		expect(t, "heard", s.heard, began)
		at := time.Now()
		s.ask(func(context.Context) (func(), error) { time.Sleep(time.Second / 2); return func() {}, nil })
		expect(t, "an answer", s.quiet(t.Context()), nil)
		expect(t, "heard when it was asked", s.heard, at)
		s.end()
		s.ask(func(ctx context.Context) (func(), error) { return nil, ctx.Err() })
		if err := s.quiet(t.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
	})
}
