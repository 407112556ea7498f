package outage

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// However many wait, one connection is tried at a time, all hear why it fails, and all go on
// within the longest pause after the database is back.
func TestAllWhoWaitShareOneProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		var tries, now, most atomic.Int64
		p := &Prober{Try: func(context.Context) error {
			tries.Add(1)
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(10 * time.Millisecond)
			if up.Load() {
				return nil
			}
			return errors.New("refused")
		}}
		var all sync.WaitGroup
		var heard atomic.Int64
		for range 100 {
			all.Go(func() {
				var once sync.Once
				if err := p.Wait(t.Context(), func(error) { once.Do(func() { heard.Add(1) }) }); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Minute)
		if n := tries.Load(); n < 50 || n > 130 {
			t.Errorf("%d tries in a minute", n)
		}
		if heard.Load() != 100 || most.Load() != 1 {
			t.Errorf("%d of 100 heard why, %d tries at a time", heard.Load(), most.Load())
		}
		up.Store(true)
		back := time.Now()
		all.Wait()
		if d := time.Since(back); d > mostPause+time.Second {
			t.Errorf("they waited for %v", d)
		}
	})
}

// A server that answers is found at once, and nothing is tried when nobody waits any more.
func TestProbeEndsWithThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := (&Prober{Try: func(context.Context) error { return nil }}).Wait(t.Context(), nil); err != nil {
			t.Error(err)
		}
		var tries atomic.Int64
		p := &Prober{Try: func(context.Context) error { tries.Add(1); return errors.New("refused") }}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := p.Wait(ctx, func(error) {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		n := tries.Load()
		time.Sleep(time.Minute)
		if n == 0 || tries.Load() != n {
			t.Errorf("%d tries, then %d", n, tries.Load())
		}
	})
}

// Who waits after all others have left begins anew.
func TestProbeBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		p := &Prober{Try: func(context.Context) error {
			if up.Load() {
				return nil
			}
			return errors.New("refused")
		}}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if err := p.Wait(ctx, func(error) {}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			cancel()
			up.Store(true)
			if err := p.Wait(t.Context(), func(error) {}); err != nil {
				t.Errorf("got %v", err)
			}
			up.Store(false)
		}
	})
}
