package rig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/effects"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Service is the spec that a test runs.
type Service struct {
	Handle func(ctx context.Context, tx idem.Tx, row int32) error
	Effect func(ctx context.Context, row int32) (number int32, err error)
	Terms  wire.EffectTerms
	// Resultless says that the effect returns nothing.
	Resultless bool
	// Unit is what results begin with; those without it are read, too.
	Unit string

	Policy  wire.FailurePolicy
	Content uint32
	Edit    func(*wire.Service)
	Options []idem.Option
}

// Topic is the topic of the spec.
const Topic = "test.v1"

// Consumer returns a consumer of the spec, which is closed when the test ends.
func (s Service) Consumer(t testing.TB, db *pgxpool.Pool) *Consumer {
	t.Helper()
	spec := wire.Service{
		Consumer: "test", Schema: map[string]int{"core": 1, "keys": 1, "effects": 1}, Identity: wire.Identity{Writes: 1, Knows: []uint32{1}},
		Limits: wire.Limits{
			BatchEvents: 500, BatchBytes: 4 << 20, BatchWait: 50 * time.Millisecond, BatchTimeout: 10 * time.Second, EventTimeout: 5 * time.Second,
			StatementTimeout: 8 * time.Second, LockTimeout: 5 * time.Second, MaxPollInterval: 5 * time.Minute, MaxPayload: 1 << 10,
		},
		Topics: []wire.Topic{{
			Name: Topic, StartFrom: wire.Earliest, OnFailure: s.Policy, Window: time.Hour,
			NewPlan: func() wire.Plan {
				return &plan{handle: s.Handle, effect: s.Effect, terms: &s.Terms, resultless: s.Resultless, unit: s.Unit, content: s.Content}
			},
			Effects: s.Terms.Timeout,
		}},
	}
	spec.Limits.Effects = 8
	if s.Edit != nil {
		s.Edit(&spec)
	}
	options := s.Options
	if spec.EffectTimeout() > 0 {
		options = append([]idem.Option{effects.Option()}, options...)
	}
	c, err := idem.New(db, spec, options...)
	if err != nil {
		t.Fatal(err)
	}
	consumer := &Consumer{Consumer: c}
	t.Cleanup(consumer.Close)
	return consumer
}

// Records makes messages at consecutive offsets. "k: put 1 2" carries key k, "@k: put 1 2"
// carries it for this partition only.
func Records(from int64, texts ...string) []idem.Message {
	msgs := make([]idem.Message, len(texts))
	for i, text := range texts {
		m := idem.Message{Topic: Topic, Offset: from + int64(i), LeaderEpoch: -1}
		if key, rest, ok := strings.Cut(text, ": "); ok {
			m.Headers = []idem.Header{{Name: "key", Value: []byte(key)}}
			if here, ok := strings.CutPrefix(string(m.Headers[0].Value), "@"); ok {
				m.Headers[0] = idem.Header{Name: "here", Value: []byte(here)}
			}
			text = rest
		}
		m.Value = []byte(text)
		msgs[i] = m
	}
	return msgs
}

// Own takes over partition 0.
func Own(t testing.TB, c *Consumer) *Writer {
	t.Helper()
	w, err := c.Own(t.Context(), Topic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Apply applies records, without an error.
func Apply(t testing.TB, w *Writer, msgs []idem.Message) idem.Result {
	t.Helper()
	res, err := w.Apply(t.Context(), msgs)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Want compares two values.
func Want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// WantError returns the error of a type that err is or wraps.
func WantError[E error](t testing.TB, err error) E {
	t.Helper()
	e, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("got error %v (%T), want a %s", err, err, fmt.Sprintf("%T", e))
	}
	return e
}

// Window makes keys expire after d.
func Window(d time.Duration) func(*wire.Service) {
	return func(s *wire.Service) { s.Topics[0].Window = d }
}

// Lengthy begins a test that go test -short leaves out, because others that take less show most of
// what it shows.
func Lengthy(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
}

// OneOrBoth is true or false by turns, and both in the long run: half of the pairs of a condition
// with others meet each value of it.
func OneOrBoth(n int) []bool {
	if longtest.Wanted() {
		return []bool{true, false}
	}
	return []bool{n%2 == 0}
}
