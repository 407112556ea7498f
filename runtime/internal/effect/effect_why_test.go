package effect_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// An effect that waits is never silent: whatever it waits for, after some seconds Health and one
// line of the log say which effect, which offset, since when and for what, of a lease also which
// process holds it. That process says so, too, although the partition is not its own any more.
func TestEffectThatWaitsSaysForWhat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		slots   int
		another bool   // the partition is taken over by another process, else partition 1 waits
		says    string // what it waits for
	}{
		"a lease of another process": {8, true, "its lease, which "},
		"a place to run":             {1, false, "a free slot among the 1 calls"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			called, goOn := make(chan struct{}), make(chan struct{})
			var once sync.Once
			p := rig.Provider{Call: func(_ context.Context, row int32, _ int) error {
				if row == 1 {
					once.Do(func() { close(called) })
					<-goOn // although its context ends
				}
				return nil
			}}
			quick := rig.Terms
			quick.Timeout = 300 * time.Millisecond
			s := p.Service(quick)
			s.Edit = func(s *wire.Service) { s.Limits.Effects = test.slots }
			holder := s.Consumer(t, db)
			at := rig.Drive(t, holder)
			var all sync.WaitGroup
			defer all.Wait()
			defer close(goOn)
			rig.Assign(t, at, 0)
			all.Go(func() { _ = at.Deliver(t.Context(), rig.First, rig.Records(0, "effect 1")) })
			<-called
			waiter, to, partition := holder, at, idem.Partition{Topic: rig.Topic, Number: 1}
			if test.another {
				at.Revoked(rig.First)
				waiter = s.Consumer(t, db)
				to, partition = rig.Drive(t, waiter), rig.First
			}
			deliverTo(t, to, partition, &all)
			health := ""
			rig.Within(t, "the one that waits says for what", func() bool {
				if err := waiter.Health().Err(); err != nil {
					health = err.Error()
				}
				return strings.Contains(health, test.says)
			})
			for end := time.Now().Add(6 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) { // it looks every 5 s
				if err := waiter.Health().Err(); err == nil || !strings.Contains(err.Error(), test.says) {
					t.Fatalf("then Health says %v", err)
				}
			}
			if text := "RETRYING: effect Test, offset 0, has waited since 20"; !strings.Contains(health, text) {
				t.Errorf("Health says %q, which lacks %q", health, text)
			}
			if test.another && !strings.Contains(health, "process ") {
				t.Errorf("Health does not name the process: %s", health)
			}
			if err := holder.Health().Err(); err == nil || !strings.Contains(err.Error(), "test.v1/0: effect Test, offset 0, is still running after its context ended at 20") {
				t.Errorf("the holder says %v", err)
			}
		})
	}
}

// deliverTo assigns a partition and delivers the record of an effect to it, which waits.
func deliverTo(t *testing.T, sink idem.Sink, p idem.Partition, all *sync.WaitGroup) {
	t.Helper()
	a := rig.NewSource(nil).Assignment
	a.Partition = p
	a.Partitions = max(a.Partitions, p.Number+1)
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	msgs := rig.Records(0, "effect 1")
	if p.Number == 1 {
		msgs = rig.Records(0, "effect 2")
		msgs[0].Partition = 1
	}
	all.Go(func() { _ = sink.Deliver(t.Context(), p, msgs) })
}
