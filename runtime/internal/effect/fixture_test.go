package effect

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/memlease"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// fakeStore is a store in memory that a test can break.
type fakeStore struct {
	memlease.Store
	mu       sync.Mutex
	down     error                 // every question has this answer
	hang     chan struct{}         // every question waits for it, or for the end of its context
	losses   atomic.Int32          // so many answers to Acquire are lost
	drawn    int64                 // of a store that stands for Postgres
	recorded func([]lease.End)     // gets what Record is given, before it is done
	extended func()                // hears of Extend
	lost     func(of string) bool  // says whose leases are lost when they are to be extended
	refused  func(of string) error // has Record of some answer with an error
	slow     func(of string)       // runs before Acquire
	asked    int                   // questions of any kind
}

func (s *fakeStore) set(down error, hang chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.hang = down, hang
}

func (s *fakeStore) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *fakeStore) answers(ctx context.Context) error {
	s.mu.Lock()
	down, hang := s.down, s.hang
	s.asked++
	s.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return down
}

func (s *fakeStore) Acquire(ctx context.Context, consumer string, asks []lease.Ask) ([]lease.Answer, error) {
	consumer = strings.TrimPrefix(consumer, database+":")
	if err := s.answers(ctx); err != nil {
		return nil, err
	}
	if s.slow != nil {
		s.slow(consumer)
	}
	keys := map[wire.Key]bool{}
	for i := range asks {
		if keys[asks[i].Key] {
			return nil, &lease.Broken{Err: errors.New("a key was asked for twice in one question")}
		}
		keys[asks[i].Key] = true
	}
	answers, err := s.Store.Acquire(ctx, consumer, asks)
	if s.losses.Add(-1) >= 0 {
		return nil, errDown
	}
	return answers, err
}

func (s *fakeStore) Extend(ctx context.Context, consumer string, held []lease.Hold) ([]bool, error) {
	consumer = strings.TrimPrefix(consumer, database+":")
	if s.extended != nil {
		s.extended()
	}
	if err := s.answers(ctx); err != nil {
		return nil, err
	}
	if s.lost != nil && s.lost(consumer) {
		return make([]bool, len(held)), nil
	}
	return s.Store.Extend(ctx, consumer, held)
}

func (s *fakeStore) Record(ctx context.Context, consumer string, ends []lease.End) ([]bool, error) {
	consumer = strings.TrimPrefix(consumer, database+":")
	if s.recorded != nil {
		s.recorded(ends)
	}
	if err := s.answers(ctx); err != nil {
		return nil, err
	}
	if s.refused != nil {
		if err := s.refused(consumer); err != nil {
			return nil, err
		}
	}
	return s.Store.Record(ctx, consumer, ends)
}

// Look implements [Postgres].
func (s *fakeStore) Look(ctx context.Context, consumer string, keys []wire.Key, known int64) (tokens []int64, here []bool, err error) {
	if err := s.answers(ctx); err != nil {
		return nil, nil, err
	}
	states := s.States(consumer)
	for _, k := range keys {
		s.mu.Lock()
		s.drawn = max(s.drawn, known) + 1
		tokens = append(tokens, s.drawn)
		s.mu.Unlock()
		_, is := states[k]
		here = append(here, is)
	}
	return tokens, here, nil
}

// Database implements [Postgres].
func (s *fakeStore) Database(ctx context.Context) (string, error) { return database, s.answers(ctx) }

// database is the id of the database. Stores know leases by what follows it.
const database = "db"

// bench is a process with its two stores, and a desk of it.
type bench struct {
	t                  testing.TB
	postgres, external *fakeStore
	process            *Process
	desk               *Desk
	quit               context.CancelFunc
	lostTo             int64

	mu   sync.Mutex
	told []string // what people heard, each once in a row
}

const consumer = "test"

func newBench(t testing.TB, most int) *bench {
	b := &bench{t: t, postgres: &fakeStore{}, external: &fakeStore{}}
	b.process = NewProcess(consumer, b.postgres, nil, most, slog.New(slog.DiscardHandler))
	b.desk, b.quit = b.newDesk()
	return b
}

// newOutside is a process that has its leases outside of Postgres.
func newOutside(t testing.TB, most int) *bench {
	b := newBench(t, most)
	return b.beside(NewProcess(consumer, b.postgres, b.external, most, slog.New(slog.DiscardHandler)))
}

// eachBench runs a test with leases in Postgres, and with leases outside of it. s is the store.
func eachBench(t *testing.T, most int, test func(t *testing.T, b *bench, s *fakeStore)) {
	t.Run("Postgres", func(t *testing.T) { b := newBench(t, most); test(t, b, b.postgres) })
	t.Run("outside", func(t *testing.T) { b := newOutside(t, most); test(t, b, b.external) })
}

// beside is another owner with the same stores, of a process.
func (b *bench) beside(p *Process) *bench {
	o := &bench{t: b.t, postgres: b.postgres, external: b.external, process: p}
	o.desk, o.quit = o.newDesk()
	return o
}

// leases is the store outside of Postgres that the process was given; nil if none.
func (b *bench) leases() lease.Store {
	if b.process.external == nil {
		return nil
	}
	return b.external
}

func (b *bench) newDesk() (*Desk, context.CancelFunc) {
	quit, cancel := context.WithCancel(b.t.Context())
	return b.process.NewDesk(Owner{
		Partition: idemtype.Partition{Topic: "t"}, Quit: quit, Topic: func() wire.UUID { return wire.UUID{1} },
		Gone: func() (int64, int64) { return b.lostTo, 0 }, Began: func(int64) {}, Elsewhere: func(context.Context) (string, error) { return "", nil },
		Tell: func(why error) {
			text := ""
			if why != nil {
				text = why.Error()
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if n := len(b.told); n == 0 || b.told[n-1] != text {
				b.told = append(b.told, text)
			}
		},
	}), cancel
}

// start begins effects.
func (b *bench) start(ctx context.Context, effects []wire.Effect) {
	b.desk.Start(ctx, effects, lease.Decision{})
}

func (b *bench) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.told...)
}

// soon are terms of leases that end within a test.
var (
	soon = wire.EffectTerms{Lease: 600 * time.Millisecond, Timeout: 30 * time.Second, Keep: time.Hour}
)

// effectOf is the effect of the record at an offset, whose key is the offset, too.
func effectOf(offset int64, recordKey string, terms *wire.EffectTerms, fn func(context.Context) ([]byte, error)) wire.Effect {
	m := &wire.Message{Topic: "t", Offset: offset}
	if recordKey != "" {
		m.Key = []byte(recordKey)
	}
	return wire.Effect{
		Event: "E", Terms: terms, Fn: fn, Message: m, Key: keyOf(offset),
		Policy: &wire.FailurePolicy{Retries: 3, InitialBackoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond},
	}
}

func keyOf(offset int64) wire.Key { return wire.Key{1, byte(offset)} }

// end is what became of the record at an offset.
func (b *bench) end(offset int64) (Outcome, error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	err := b.desk.Wait(ctx, offset)
	if errors.Is(err, context.DeadlineExceeded) {
		b.t.Fatalf("offset %d has no outcome", offset)
	}
	b.desk.mu.Lock()
	defer b.desk.mu.Unlock()
	if t := b.desk.tasks[offset]; t != nil {
		o, _ := t.over()
		return o, err
	}
	return Outcome{}, err
}

// result is the result of the record at an offset, which must have one.
func (b *bench) result(offset int64) wire.EffectResult {
	b.t.Helper()
	o, err := b.end(offset)
	if err != nil || o.Refused != nil || o.Err != nil {
		b.t.Fatalf("offset %d: %v %+v", offset, err, o)
	}
	return o.Result
}

func answer(text string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return []byte(text), nil }
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

var errDown = errors.New("connection refused")
