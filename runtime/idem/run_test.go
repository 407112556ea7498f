package idem_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// subscriber is a Source that is only called.
type subscriber func(context.Context, idem.Subscription, idem.Sink) error

func (s subscriber) Run(ctx context.Context, of idem.Subscription, sink idem.Sink) error {
	return s(ctx, of, sink)
}

// Run tells a Source what to read, and returns its error unless that is only the end of the
// context. Afterwards Health says that it has ended.
func TestEndOfRun(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	windows := func(s *wire.Service) {
		s.Topics[0].Shortest, s.Topics[0].Window, s.Topics[0].Chain = 0, 0, 3*time.Hour
		second, third, fourth := s.Topics[0], s.Topics[0], s.Topics[0]
		second.Name, second.Window = "second", 2*time.Hour
		third.Name, third.Window, third.Shortest = "third", 2*time.Hour, time.Hour
		fourth.Name, fourth.Chain = "fourth", 0
		s.Topics = append(s.Topics, second, third, fourth)
	}
	c := rig.Service{Edit: windows}.Consumer(t, db)
	failed := errors.New("failed")
	for name, tc := range map[string]struct {
		ends bool // the context
		err  error
		want error
	}{
		"no error":                        {false, nil, nil},
		"an error":                        {false, failed, failed},
		"an error of another context":     {false, context.Canceled, context.Canceled},
		"the end":                         {true, nil, nil},
		"the end, as an error":            {true, fmt.Errorf("source: %w", context.Canceled), nil},
		"an error at the end":             {true, failed, failed},
		"another context's error, at end": {true, context.DeadlineExceeded, context.DeadlineExceeded},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := c.Run(ctx, subscriber(func(_ context.Context, of idem.Subscription, sink idem.Sink) error {
			rig.Want(t, "group and topics", fmt.Sprint(of.Group, of.Topics), "test[test.v1 second third fourth]")
			for topic, want := range map[string]time.Duration{
				"test.v1": 3 * time.Hour, "second": 2 * time.Hour, "third": time.Hour, "fourth": 0, "other": 0,
			} {
				rig.Want(t, "window of "+topic, of.Window(topic), want)
			}
			unassigned(t, sink)
			if tc.ends {
				cancel()
			}
			return tc.err
		}))
		cancel()
		if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		rig.WantText(t, c.Health().Err(), "the service has ended")
	}
	group := rig.Service{Options: []idem.Option{idem.WithGroup("other")}}.Consumer(t, db)
	err := group.Run(t.Context(), subscriber(func(_ context.Context, of idem.Subscription, _ idem.Sink) error {
		rig.Want(t, "group", of.Group, "other")
		return nil
	}))
	if err != nil {
		t.Error(err)
	}
}

// unassigned checks that a partition that is not assigned is refused, or has nothing.
func unassigned(t *testing.T, sink idem.Sink) {
	t.Helper()
	_, standby := sink.Standby(t.Context(), rig.First)
	for what, err := range map[string]error{
		"deliver": sink.Deliver(t.Context(), rig.First, rig.Records(0, "put 1 1")),
		"idle":    sink.Idle(t.Context(), rig.First, 1), "standby": standby,
	} {
		if fenced := rig.WantError[*idem.FencedError](t, err); fenced == nil || fenced.Partition != rig.First {
			t.Errorf("%s: %v", what, err)
		}
	}
	rig.Want(t, "durable", sink.Durable(rig.First), idemtype.NoCommit)
	rig.Want(t, "revoked", sink.Revoked(rig.First), idemtype.NoCommit)
	sink.Silent(rig.First, time.Now(), "not assigned")
	sink.End(rig.First, 1, time.Now())
	sink.Lost(rig.First)
}

// Run waits for a database that is away, with the reason in Health, and ends without an error.
func TestRunWithoutADatabase(t *testing.T) {
	t.Parallel()
	db, err := pgxpool.New(t.Context(), "host="+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := rig.Service{}.Consumer(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, rig.NewSource(nil)) }()
	const text = "the database has not been reached since the start"
	rig.Within(t, "the reason", func() bool { return rig.Tells(c, text, "") })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := idem.New(nil, wire.Service{}); err == nil {
		t.Error("a consumer without a pool")
	}
	if _, err := idem.New(db, wire.Service{}, idem.WithRate("other", 1)); err == nil {
		t.Error("a rate of a topic that is not read")
	}
	if _, err := idem.New(db, wire.Service{}, idem.WithKeyMemory(0)); err == nil {
		t.Error("no memory for keys")
	}
	if _, err := idem.New(db, wire.Service{}, idem.WithMiddleware(nil)); err == nil {
		t.Error("a nil Middleware")
	}
	if _, err := idem.New(db, wire.Service{}, idem.WithLogger(nil)); err != nil {
		t.Error(err)
	}
	rig.Want(t, "name", c.Name(), "test")
}

// The number of open letters is known for three intervals of the upkeep, and is each caller's own.
func TestCountOfOpenLettersGrowsOld(t *testing.T) {
	t.Parallel()
	c := rig.Service{}.Consumer(t, rig.Database(t))
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "nonsense"))
	rig.Do(t, func() error { return c.Upkeep(t.Context()) })
	c.Stats().OpenDead["decode"] = 7
	rig.Want(t, "open", fmt.Sprint(c.Stats().OpenDead), "map[decode:1]")
	c.UpkeepEvery(1)
	if open := c.Stats().OpenDead; open != nil {
		t.Errorf("an old count: %v", open)
	}
}
