package effect_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// An owner that waits long for an effect learns meanwhile that the partition is another's.
func TestOwnerThatWaitsForAnEffectLearnsOfAnother(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	called, goOn := make(chan struct{}), make(chan struct{})
	defer close(goOn)
	p := rig.Provider{Call: func(ctx context.Context, _ int32, nth int) error {
		if nth == 1 {
			close(called)
		}
		<-goOn
		return ctx.Err()
	}}
	s := p.Service(rig.Terms)
	first, ended := rig.Own(t, s.Consumer(t, db)), make(chan error, 1)
	go func() {
		_, err := first.Apply(context.WithoutCancel(t.Context()), rig.Records(0, "effect 1"))
		ended <- err
	}()
	<-called
	rig.Own(t, s.Consumer(t, db))
	select {
	case err := <-ended:
		if _, fenced := errors.AsType[*idem.FencedError](err); !fenced {
			t.Errorf("got %v, want a FencedError", err)
		}
	case <-time.After(time.Minute):
		t.Error("it does not learn of it while the call runs")
	}
}

// counted is a plan that counts the records that it decides.
type counted struct {
	wire.Plan
	adds *atomic.Int64
}

func (c counted) Add(b *wire.Batch, m *wire.Message) error {
	c.adds.Add(1)
	return c.Plan.Add(b, m)
}

// Records are decided when they come, and when they are sent: not again each time that one of
// their calls is over.
func TestRecordsAreNotDecidedForEachCallThatIsOver(t *testing.T) {
	t.Parallel()
	const n = 20
	db := rig.Database(t)
	p := rig.Provider{Call: func(ctx context.Context, row int32, _ int) error { // each ends when the record before it is durable
		for row > 1 && ctx.Err() == nil && rig.Query(t, db, `SELECT count(*)::text FROM t WHERE id = $1`, row-1) == "0" {
			time.Sleep(time.Millisecond)
		}
		return ctx.Err()
	}}
	s, adds := p.Service(rig.Terms), &atomic.Int64{}
	s.Edit = func(spec *wire.Service) {
		spec.Limits.Effects = n // else a call could have the slot of the one that it waits for
		plan := spec.Topics[0].NewPlan
		spec.Topics[0].NewPlan = func() wire.Plan { return counted{plan(), adds} }
	}
	var texts []string
	for row := 1; row <= n; row++ {
		texts = append(texts, fmt.Sprintf("effect %d", row))
	}
	rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(0, texts...))
	if got := adds.Load(); got > 3*n {
		t.Errorf("%d records were decided %d times", n, got)
	}
	rig.Want(t, "rows", rig.Query(t, db, `SELECT count(*)::text FROM t`), fmt.Sprint(n))
}

// Records whose effects end soon after each other are sent together: what ends within batch_wait
// of the first one is waited for, and what takes longer is not.
func TestEffectsThatEndTogetherAreSentTogether(t *testing.T) {
	t.Parallel()
	const n = 20
	db := rig.Database(t)
	release := make(chan struct{})
	p := rig.Provider{Call: func(ctx context.Context, row int32, _ int) error {
		if row < n {
			time.Sleep(time.Duration(row) * time.Millisecond)
			return nil
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return ctx.Err()
	}}
	s := p.Service(rig.Terms)
	s.Edit = func(spec *wire.Service) { spec.Limits.Effects, spec.Limits.BatchWait = n, 2*time.Second }
	c := s.Consumer(t, db)
	var texts []string
	for row := 1; row <= n; row++ {
		texts = append(texts, fmt.Sprintf("effect %d", row))
	}
	w, done := rig.Own(t, c), make(chan error, 1)
	before := c.Stats().Batches
	go func() {
		_, err := w.Apply(context.WithoutCancel(t.Context()), rig.Records(0, texts...))
		done <- err
	}()
	rig.Within(t, "all rows but the last", func() bool { return rig.Query(t, db, `SELECT count(*)::text FROM t`) == fmt.Sprint(n-1) })
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := c.Stats().Batches - before; got != 2 {
		t.Errorf("%d transactions, want 2", got)
	}
}
