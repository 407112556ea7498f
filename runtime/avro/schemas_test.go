package avro

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/internal/frame"
	"github.com/idemgen/idemgen/runtime/wire"
)

const ofOrder = `{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}`

// slow is a registry with schemas of even numbers below 100,000, which takes a second for each.
type slow struct {
	mu          sync.Mutex
	asked, most int
	under       map[uint32]int
	late        bool // it has all of them by now
	twice       bool // two queries for one schema were under way
}

func (s *slow) Schema(ctx context.Context, number uint32) ([]string, error) {
	s.mu.Lock()
	s.asked++
	s.under[number]++
	s.twice = s.twice || s.under[number] > 1
	s.most = max(s.most, len(s.under))
	has := number%2 == 0 || s.late
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.under, number)
	}()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, errors.New("the registry does not respond: " + ctx.Err().Error()) // without its cause
	}
	if !has {
		return nil, ErrNoSchema
	}
	return []string{ofOrder}, nil
}

func records(from, to int) (all []wire.Message) {
	for n := from; n < to; n++ {
		all = append(all, wire.Message{Offset: int64(n), Value: append(frame.Append(nil, uint32(n)), "\x02a"...)})
	}
	return all
}

// Schemas are queried several at a time, each once, whoever waits for it. A missing one is
// believed for longer each time, and what is remembered is bounded.
func TestQueriesOfManySchemas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slow{under: map[uint32]int{}}
		m := NewFramed(ofOrder, "").From(r)
		begun := time.Now()
		var both sync.WaitGroup
		for range 3 {
			both.Go(func() {
				if n, err := m.Prepare(t.Context(), records(1, 161)); n != 160 || err != nil {
					t.Error(n, err)
				}
			})
		}
		both.Wait()
		if took := time.Since(begun); r.twice || r.asked != 160 || took > 12*time.Second || r.most > 3*mostQueries {
			t.Errorf("%d queries, %d at a time, in %v; two for one schema: %v", r.asked, r.most, took, r.twice)
		}
		e := Encoding{Message: m}
		for i, want := range []string{"the registry has no schema 1", `{"id":"a"}`} {
			is, err := e.Open(&records(1, 3)[i])
			if text := fmt.Sprint(err); err == nil && string(is.Value) != want || err != nil && !strings.Contains(text, want) {
				t.Errorf("record %d: %v, want %s", i+1, err, want)
			}
		}
		// Missing ones are queried again after 10, 20, 40 seconds and so on, at last every 10 minutes.
		r.asked = 0
		queried := []int{}
		for begun := time.Now(); time.Since(begun) < time.Hour; time.Sleep(time.Second) {
			before := r.asked
			if _, err := m.Prepare(t.Context(), records(1, 3)); err != nil {
				t.Fatal(err)
			}
			if r.asked > before {
				queried = append(queried, int(time.Since(begun).Seconds()))
			}
		}
		if len(queried) < 9 || len(queried) > 13 {
			t.Errorf("a missing schema is queried after %v s", queried)
		}
		r.late = true
		time.Sleep(lastAgain + time.Second)
		if _, err := m.Prepare(t.Context(), records(1, 2)); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Open(&records(1, 2)[0]); err != nil {
			t.Errorf("a schema that was registered late: %v", err)
		}
		if s := m.schemas; len(s.missing) != 79 || s.known[frame.Schema{Number: 1}] == nil {
			t.Errorf("%d are missing", len(s.missing))
		}
	})
}

func TestMemoryOfSchemasIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewFramed(ofOrder, "") // without a registry, records wait
		if n, err := m.Prepare(t.Context(), records(1, 2)); n != 0 || err == nil {
			t.Errorf("without a registry: %d, %v", n, err)
		}
		s := m.schemas
		for n := range uint32(3 * mostMissing) {
			s.remember(frame.Schema{Number: n}, &written{err: ErrNoSchema, used: time.Now()})
		}
		for n := range uint32(3 * mostKnown) {
			if n == 2*mostKnown {
				time.Sleep(lastAgain + time.Second)
			}
			s.remember(frame.Schema{Number: 1_000_000 + n}, &written{used: time.Now()})
		}
		if len(s.missing) != mostMissing || len(s.known) != mostKnown {
			t.Errorf("%d missing, %d known", len(s.missing), len(s.known))
		}
		// One that is forgotten is missing for a record, with the same words.
		if err := s.find(frame.Schema{Number: 5_000_000}).reason(frame.Schema{Number: 5_000_000}); err == nil || err.Error() != "the registry has no schema 5000000" {
			t.Error(err)
		}
	})
}

// Who waits for the query of another asks again if that one's time was over, and takes its error
// otherwise.
func TestWaitingForAnothersQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slow{under: map[uint32]int{}}
		m := NewFramed(ofOrder, "").From(r)
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		go func() {
			if n, err := m.Prepare(short, records(2, 3)); n != 0 || err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
				t.Error(n, err)
			}
		}()
		synctest.Wait()
		done, end := context.WithCancelCause(t.Context())
		end(errors.New("the service ends"))
		began := time.Now()
		if n, err := m.Prepare(done, records(2, 3)); n != 0 || err == nil || !strings.Contains(err.Error(), "the service ends") || time.Since(began) != 0 {
			t.Errorf("with a canceled context, while another query runs: %d, %v after %v", n, err, time.Since(began))
		}
		if n, err := m.Prepare(t.Context(), records(2, 3)); n != 1 || err != nil {
			t.Error(n, err)
		}
	})
}

// Without a registry all records wait. A schema that is missing for a reason of its own is
// remembered among the missing ones, and forgotten there once it is known.
func TestSchemasThatAreMissing(t *testing.T) {
	synctest.Test(t, schemasThatAreMissing)
}

func schemasThatAreMissing(t *testing.T) {
	n, err := New(ofOrder, "").From(nil).Prepare(t.Context(), records(2, 3))
	if n != 0 || err == nil || !strings.HasPrefix(err.Error(), "schema 2 of offset 2 cannot be read: ") {
		t.Errorf("without a registry: %d, %v", n, err)
	}
	asks := &slow{under: map[uint32]int{}}
	framed := NewFramed(ofOrder, "").From(asks)
	without := wire.Message{Headers: []wire.Header{{Name: frame.Header, Value: frame.Append(nil, 4)}}}
	if n, err := framed.Prepare(t.Context(), []wire.Message{without, {Value: []byte("x")}}); n != 2 || err != nil || asks.asked != 0 {
		t.Errorf("a record without a value: %d, %v, and %d questions", n, err, asks.asked)
	}
	broken := &slow{late: true, under: map[uint32]int{}}
	framed = NewFramed(ofOrder, "").From(broken)
	if n, err := framed.Prepare(t.Context(), records(4, 5)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, _, err := framed.open(nil, &wire.Message{Value: append(frame.Append(nil, 4), 0x7e)}, 0); err == nil || !strings.HasSuffix(err.Error(), " (schema 4)") {
		t.Errorf("a value that is cut off: %v", err)
	}
	s := newSchemas(New(ofOrder, "").is, &slow{})
	of := frame.Schema{Number: 7}
	why := fmt.Errorf("too many references: %w", ErrNoSchema)
	for _, w := range []*written{{}, {err: why}, {err: errors.New("not a schema")}, {err: why}, {}} {
		s.remember(of, w)
		_, missing := s.missing[of]
		_, known := s.known[of]
		if missing != (w.err == why) || known == missing {
			t.Errorf("%v: missing %v, known %v", w.err, missing, known)
		}
	}
	if got := (&written{err: why}).reason(of); got.Error() != "it was written with schema 7, which cannot be read: too many references: "+ErrNoSchema.Error() {
		t.Error(got)
	}
}

// away is a registry that does not respond.
type away struct{ asked atomic.Int32 }

func (a *away) Schema(context.Context, uint32) ([]string, error) {
	a.asked.Add(1)
	time.Sleep(time.Second)
	return nil, errors.New("no answer")
}

// Who waits for a query of another batch that fails has its error, and asks no more.
func TestAQueryThatFailsIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &away{}
		m := NewFramed(ofOrder, "").From(r)
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() {
				if n, err := m.Prepare(t.Context(), records(2, 3)); n != 0 || err == nil || !strings.HasSuffix(err.Error(), "cannot be read: no answer") {
					t.Errorf("%d, %v", n, err)
				}
			})
		}
		waiting.Wait()
		if n := r.asked.Load(); n != 1 {
			t.Errorf("%d questions", n)
		}
	})
}

type broken struct{}

func (broken) Schema(context.Context, uint32) ([]string, error) { panic("of the service") }

// A registry that panics does not end the process: whoever needs the schema gets an error.
func TestARegistryThatPanics(t *testing.T) {
	s := newSchemas(nil, broken{})
	if n, err := s.prepare(t.Context(), []frame.Schema{{Number: 1}}); n != 0 || err == nil || err.Error() != "the schema registry panicked: a value of type string" {
		t.Errorf("%d, %v", n, err)
	}
}
