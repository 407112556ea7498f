package idem_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

// An owner that waits long for an effect learns meanwhile that the partition is another's.
func TestOwnerThatWaitsForAnEffectLearnsOfAnother(t *testing.T) {
	lengthy(t)
	db := database(t)
	called, goOn := make(chan struct{}), make(chan struct{})
	defer close(goOn)
	p := provider{call: func(ctx context.Context, _ int32, nth int) error {
		if nth == 1 {
			close(called)
		}
		<-goOn
		return ctx.Err()
	}}
	s := p.service(terms)
	first, ended := own(t, s.consumer(t, db)), make(chan error, 1)
	go func() {
		_, err := first.Apply(context.WithoutCancel(t.Context()), records(0, "effect 1"))
		ended <- err
	}()
	<-called
	own(t, s.consumer(t, db))
	select {
	case err := <-ended:
		if _, fenced := errors.AsType[*idem.FencedError](err); !fenced {
			t.Errorf("got %v, want a FencedError", err)
		}
	case <-time.After(time.Minute):
		t.Error("it does not learn of it while the call runs")
	}
}
