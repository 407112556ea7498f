package avro

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idemgen/idemgen/internal/avromsg"
	"github.com/idemgen/idemgen/internal/frame"
)

const (
	// A schema that the registry does not have, or that is invalid, is queried again after
	// firstAgain, and each time after twice as long, up to lastAgain: it may have been registered
	// late, and many records may name it.
	firstAgain = 10 * time.Second
	lastAgain  = 10 * time.Minute

	// mostKnown bounds the schemas that are remembered. A schema that was used within lastAgain is
	// never forgotten.
	mostKnown = 1000
	// mostMissing bounds the missing ones that are remembered: a record may name any number.
	mostMissing = 10_000

	// mostQueries bounds the queries for the schemas of one batch that are under way.
	mostQueries = 16
)

// schemas are those that the values of a topic were written with, as far as they are known.
type schemas struct {
	is       *avromsg.Type
	registry Registry

	mu      sync.RWMutex
	known   map[frame.Schema]*written // also those that cannot be used
	missing map[frame.Schema]*written // those that the registry does not have
	queries map[frame.Schema]*query   // under way
}

// written determines how values with one writer's schema are decoded.
type written struct {
	as    *avromsg.Written
	err   error         // why they cannot be decoded
	until time.Time     // of err: when the registry is queried again
	wait  time.Duration // of err: how long it was believed
	used  time.Time     // by a batch that was prepared
}

// query is a question to the registry, which several batches may wait for.
type query struct {
	done chan struct{}
	err  error // why it has no answer, once it is done
	over bool  // its own time was over: another one may have an answer
}

func newSchemas(is *avromsg.Type, r Registry) *schemas {
	return &schemas{is: is, registry: r, known: map[frame.Schema]*written{}, missing: map[frame.Schema]*written{}, queries: map[frame.Schema]*query{}}
}

// find returns what is known of a schema, perhaps not any more; nil if it is nothing.
func (s *schemas) find(schema frame.Schema) *written {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.get(schema)
}

func (s *schemas) get(schema frame.Schema) *written {
	if w := s.known[schema]; w != nil {
		return w
	}
	return s.missing[schema]
}

// has reports whether a schema is known now, and keeps it for the batch that asks.
func (s *schemas) has(schema frame.Schema, now time.Time) bool {
	w := s.get(schema)
	if w == nil || w.err != nil && !now.Before(w.until) {
		return false
	}
	w.used = now
	return true
}

// ask makes sure that a schema is known, or known to be missing. There is one query for each
// schema at a time, whoever waits for it.
func (s *schemas) ask(ctx context.Context, schema frame.Schema) error {
	for {
		s.mu.Lock()
		if s.has(schema, time.Now()) {
			s.mu.Unlock()
			return nil
		}
		q := s.queries[schema]
		if q == nil {
			q = &query{done: make(chan struct{})}
			s.queries[schema] = q
			s.mu.Unlock()
			return s.query(ctx, schema, q)
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-q.done:
		}
		if q.err != nil && !q.over {
			return q.err
		}
	}
}

func (s *schemas) query(ctx context.Context, schema frame.Schema, q *query) error {
	w := &written{used: time.Now()}
	err := s.read(ctx, schema, w)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queries, schema)
	defer close(q.done)
	if w.err == nil && err != nil {
		q.err, q.over = err, ctx.Err() != nil
		return err
	}
	s.remember(schema, w)
	return nil
}

// read reads a schema. A panic of the registry, which may be the service's own, is an error.
func (s *schemas) read(ctx context.Context, schema frame.Schema, w *written) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the schema registry panicked: a value of type %T", p)
		}
	}()
	texts, err := s.look(ctx, schema)
	switch {
	case errors.Is(err, errNoGUIDs), errors.Is(err, ErrNoSchema):
		w.err = err
	case err == nil:
		w.as, w.err = s.is.Written(texts)
	}
	return err
}

// remember replaces what is known of a schema.
func (s *schemas) remember(schema frame.Schema, w *written) {
	if w.err != nil {
		w.wait = firstAgain
		if was := s.get(schema); was != nil && was.err != nil {
			w.wait = min(2*was.wait, lastAgain)
		}
		w.until = w.used.Add(w.wait)
	}
	delete(s.missing, schema)
	if errors.Is(w.err, ErrNoSchema) {
		for old := range s.missing { // any: to forget that one is missing costs a query
			if len(s.missing) < mostMissing {
				break
			}
			delete(s.missing, old)
		}
		delete(s.known, schema)
		s.missing[schema] = w
		return
	}
	if len(s.known) >= mostKnown {
		for old, is := range s.known {
			if w.used.Sub(is.used) > lastAgain {
				delete(s.known, old)
			}
		}
	}
	s.known[schema] = w
}

func (s *schemas) look(ctx context.Context, schema frame.Schema) ([]string, error) {
	if !schema.Global {
		return s.registry.Schema(ctx, schema.Number)
	}
	if by, ok := s.registry.(GUIDs); ok {
		return by.SchemaByGUID(ctx, schema.String())
	}
	return nil, errNoGUIDs
}

// errNoGUIDs is the error for a registry that finds no schema by its GUID.
var errNoGUIDs = errors.New("this registry does not provide schemas by GUID")

// prepare makes sure that schemas are known. It returns how many of the first ones are, and why
// the next one is not.
func (s *schemas) prepare(ctx context.Context, all []frame.Schema) (n int, err error) {
	errs := make([]error, len(all))
	var running sync.WaitGroup
	slots := make(chan struct{}, mostQueries)
	for _, i := range s.lacking(all) {
		slots <- struct{}{}
		running.Go(func() {
			errs[i] = s.ask(ctx, all[i])
			<-slots
		})
	}
	running.Wait()
	for i, err := range errs {
		if err != nil {
			return i, err
		}
	}
	return len(all), nil
}

// lacking are the places of those schemas that are not known now.
func (s *schemas) lacking(all []frame.Schema) (places []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for i, schema := range all {
		if !s.has(schema, now) {
			places = append(places, i)
		}
	}
	return places
}

// reason says why a schema cannot be used; nil if it can.
func (w *written) reason(schema frame.Schema) error {
	switch {
	case w == nil, w.err == ErrNoSchema: // and no error that wraps it, which has a reason
		return fmt.Errorf("the registry has no schema %v", schema)
	case w.err != nil:
		return fmt.Errorf("it was written with schema %v, which cannot be read: %w", schema, w.err)
	}
	return nil
}
