package effect_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

type failedCalls struct{ n *atomic.Int64 }

func (f failedCalls) OnCall(_ context.Context, _ idem.Partition, c hook.Ended) {
	if c.Err != nil && c.Outcome == hook.CallFailed {
		f.n.Add(1)
	}
}

// An outage of the other side makes no dead letter, however long it is: no retries are left here.
// One call at a time finds out whether it is over, people are told once, and all heals by itself.
func TestOutageOfTheOtherSideIsWaitedOut(t *testing.T) {
	rig.Lengthy(t)
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for name, c := range map[string]struct {
		terms wire.EffectTerms
		err   error
	}{
		"never connected, retry":       {rig.Terms, refused},
		"never connected, dead_letter": {rig.Interrupts, refused},
		"unavailable, retry":           {rig.Terms, idem.Unavailable(idem.Interrupted(fmt.Errorf("503")))},
		"unavailable, dead_letter":     {rig.Interrupts, idem.Unavailable(fmt.Errorf("503"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			var down atomic.Bool
			var failed, running, most atomic.Int64
			down.Store(true)
			p := rig.Provider{Call: func(context.Context, int32, int) error {
				if !down.Load() {
					return nil
				}
				if failed.Load() > 20 { // it has tripped for sure
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(20 * time.Millisecond)
					running.Add(-1)
				}
				return c.err
			}}
			var log transcript.Buffer
			s := p.Service(c.terms)
			s.Terms.Lease = 5 * time.Second // of a busy machine, too
			s.Policy = wire.FailurePolicy{InitialBackoff: 5 * time.Millisecond, MaxBackoff: 50 * time.Millisecond}
			s.Options = []idem.Option{idem.WithHooks(failedCalls{&failed}), idem.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}
			consumer := s.Consumer(t, db)
			var texts, rows []string
			for i := range 40 {
				texts, rows = append(texts, fmt.Sprintf("k%d: effect %d", i, i)), append(rows, fmt.Sprint(i))
			}
			applied := make(chan error, 1)
			go func() { applied <- rig.NewSource(rig.Records(0, texts...)).Consume(t, consumer) }()
			for failed.Load() < 40 {
				time.Sleep(time.Millisecond)
			}
			failing := consumer.Stats().Calls.Failing
			if len(failing) != 1 || failing[0].Event != "Test" || failing[0].Err != c.err.Error() || failing[0].Calls < 20 {
				t.Errorf("Stats say %+v", failing)
			}
			if err := consumer.Health().Err(); err == nil || !strings.Contains(err.Error(), "effect Test has been failing since") {
				t.Errorf("Health says %v", err)
			}
			down.Store(false)
			if err := <-applied; err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
			rig.Want(t, "rows", rig.Query(t, db, `SELECT string_agg(id::text, ' ' ORDER BY id) FROM t`), strings.Join(rows, " "))
			rig.Want(t, "calls at one time", most.Load(), 1)
			rig.Want(t, "lines that say that it fails", strings.Count(log.String(), "an effect keeps failing"), 1)
			waits := 0
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, "partition makes no progress") && strings.Contains(line, "effect Test") {
					waits++
				}
			}
			rig.Want(t, "lines that say that the partition waits for the effect", waits, 1)
			rig.Want(t, "lines that say that it works", strings.Count(log.String(), "an effect succeeds again"), 1)
			if failing := consumer.Stats().Calls.Failing; len(failing) > 0 {
				t.Errorf("behind it Stats say %+v", failing)
			}
		})
	}
}

// An error that says nothing of whose fault it is does not count while the effect fails for all.
func TestOutageThatNobodyNamedIsWaitedOut(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var calls atomic.Int32
	p := rig.Provider{Call: func(context.Context, int32, int) error {
		if calls.Add(1) > 60 {
			return nil
		}
		return fmt.Errorf("500")
	}}
	s := p.Service(rig.Terms)
	s.Policy = wire.FailurePolicy{Retries: 5, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond}
	rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(0, "a: effect 1", "b: effect 2", "c: effect 3"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
	rig.Want(t, "rows", rig.Query(t, db, `SELECT string_agg(id::text, ' ' ORDER BY id) FROM t`), "1 2 3")
}
