package idem

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// A topic is applied no faster than its rate over any stretch of batches, by all partitions
// together; after a pause it does not catch up at once. Other topics do not wait.
func TestRateOfATopic(t *testing.T) {
	r := &rate{perSecond: 100}
	now := time.Unix(1000, 0)
	for i, tc := range []struct{ after, want time.Duration }{
		{0, 0}, {0, 500 * time.Millisecond}, {0, time.Second}, {2 * time.Second, 0}, {100 * time.Millisecond, 400 * time.Millisecond}, {10 * time.Second, 0}, {0, 500 * time.Millisecond},
	} {
		now = now.Add(tc.after)
		if got := r.reserve(now, 50); got != tc.want {
			t.Errorf("batch %d waits %v, want %v", i, got, tc.want)
		}
	}
	s := &sink{settings: settings{rates: map[string]*rate{"slow": {perSecond: 1}}}}
	slow, fast := Partition{Topic: "slow"}, Partition{Topic: "fast"}
	if err := errors.Join(s.pace(t.Context(), slow, 1000), s.pace(t.Context(), fast, 1000)); err != nil {
		t.Error(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var given *FencedError
		if err := s.pace(t.Context(), slow, 1); !errors.As(err, &given) || time.Since(began) > time.Second {
			t.Errorf("a partition that was given up waits for %v: %v", time.Since(began), err)
		}
	})
	ended, cancel := context.WithCancelCause(t.Context())
	why := errors.New("revoked")
	cancel(why)
	if err := s.pace(ended, slow, 1); !errors.Is(err, why) {
		t.Errorf("a partition that is revoked waits: %v", err)
	}
	service := &wire.Service{Consumer: "c", Topics: []wire.Topic{{Name: "slow"}}}
	for topic, n := range map[string]int{"other": 1, "slow": 0} {
		if checkRates(service, map[string]*rate{topic: {perSecond: n}}) == nil {
			t.Errorf("%s at %d is accepted", topic, n)
		}
	}
}
