// Package avro unpacks the values of topics that are written in Avro, for code that idemgen
// generates: payload: {encoding: avro | confluent_avro} of a spec. Decoders read what a value is
// as JSON, with the names of the schema (docs/spec.md, Packed values).
//
// It must not import any package of this module but avromsg and wire.
package avro

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idemgen/idemgen/internal/avromsg"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Message is the type of a topic's values. Any goroutine may use it.
type Message struct {
	is       *avromsg.Type
	framed   bool
	registry Registry // nil in tests of a message alone

	mu    sync.RWMutex
	known map[uint32]written // schemas that values were written with, by number
}

// written is how values of one writer's schema are opened.
type written struct {
	as    *avromsg.Written
	err   error     // why they cannot be
	until time.Time // of err: when the registry is asked again
}

// keepErrors is how long the registry is not asked again for a schema that it does not have, or
// that cannot be read: many records may have one.
const keepErrors = 10 * time.Second

// Registry has the schemas that producers write with. Package registry has one for registries with
// the API of Confluent's.
type Registry interface {
	// Schema returns the schema with a number; before it those that it refers to, each behind those
	// that it refers to itself. [ErrNoSchema] says that there is none, so that records with it are
	// refused. Any other error is one that may pass: their records wait.
	Schema(ctx context.Context, number uint32) ([]string, error)
}

// ErrNoSchema is of a number that the registry does not have.
var ErrNoSchema = errors.New("there is no such schema")

// New returns the type of a schema's values, or of those of one name in it; "" is all of it. New
// panics if the schema is broken or lacks the name: generated code has a whole one.
func New(schema, name string) *Message {
	is, err := avromsg.New(schema, name)
	if err != nil {
		panic(fmt.Sprintf("idem: the schema of %s: %v", name, err))
	}
	return &Message{is: is}
}

// NewFramed is New for values behind what the serializers of Confluent's registry write: a zero
// byte, and the number of the schema with which the value was written.
func NewFramed(schema, name string) *Message {
	m := New(schema, name)
	m.framed = true
	return m
}

// From is the same type with the registry that has the schemas of its values. Without one, nil,
// all records wait.
func (m *Message) From(r Registry) *Message {
	if r == nil {
		r = none{}
	}
	return &Message{is: m.is, framed: true, registry: r, known: map[uint32]written{}}
}

// Prepare asks the registry for the schemas of records that are not known yet. It returns how many
// of the first records can be opened now, and an error if that is none of them.
func (m *Message) Prepare(ctx context.Context, records []wire.Message) (n int, err error) {
	asked := map[uint32]bool{}
	for i := range records {
		number, _, bad := avromsg.Frame(records[i].Value)
		if bad != nil || asked[number] || m.knows(number) {
			continue
		}
		asked[number] = true
		if err := m.ask(ctx, number); err != nil && i > 0 {
			return i, nil
		} else if err != nil {
			return 0, fmt.Errorf("schema %d of offset %d cannot be read: %w", number, records[i].Offset, err)
		}
	}
	return len(records), nil
}

func (m *Message) knows(number uint32) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	w, known := m.known[number]
	return known && (w.err == nil || time.Now().Before(w.until))
}

// ask asks for one schema.
func (m *Message) ask(ctx context.Context, number uint32) error {
	w := written{until: time.Now().Add(keepErrors)}
	switch texts, err := m.registry.Schema(ctx, number); {
	case errors.Is(err, ErrNoSchema):
		w.err = ErrNoSchema
	case err != nil:
		return err
	default:
		w.as, w.err = m.is.Written(texts)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[number] = w
	return nil
}

// open returns a value as JSON, appended to into, of so many bytes at most.
func (m *Message) open(into, value []byte, most int) ([]byte, error) {
	if !m.framed {
		return m.is.OpenWithin(into, value, m.is.Own(), most)
	}
	number, value, err := avromsg.Frame(value)
	if err != nil {
		return nil, err
	}
	m.mu.RLock()
	w, known := m.known[number]
	m.mu.RUnlock()
	switch {
	case !known, errors.Is(w.err, ErrNoSchema):
		return nil, fmt.Errorf("the registry has no schema %d", number)
	case w.err != nil:
		return nil, fmt.Errorf("it was written with schema %d, which cannot be read: %w", number, w.err)
	}
	text, err := m.is.OpenWithin(into, value, w.as, most)
	if err != nil {
		err = fmt.Errorf("%w, of schema %d", err, number)
	}
	return text, err
}

type none struct{}

// Schema implements [Registry].
func (none) Schema(context.Context, uint32) ([]string, error) {
	return nil, errors.New("NewConsumer was called without a schema registry: pass registry.New(client)")
}

// Encoding unpacks values. It is not safe for concurrent use.
type Encoding struct {
	Message *Message
	Most    int // bytes of JSON that a value may become: limits.max_payload; 0 is any number
	memory  []byte
}

// Open returns m with its value as JSON in place of the value, valid until the next Open. A record
// without a value is returned as it is. What is no such value is a [*wire.DecodeError].
func (e *Encoding) Open(m *wire.Message) (*wire.Message, error) {
	if m.Value == nil {
		return m, nil
	}
	text, err := e.Message.open(e.memory[:0], m.Value, e.Most)
	if err != nil {
		return nil, &wire.DecodeError{Reason: "cannot be read: " + err.Error()}
	}
	e.memory = text
	return m.Unpacked(text), nil
}

// Own is a registry of the schemas that types have themselves, for tests.
func Own(messages ...*Message) Registry { return own(messages) }

type own []*Message

// Schema implements [Registry].
func (all own) Schema(_ context.Context, number uint32) ([]string, error) {
	for _, m := range all {
		if m.is.Number == number {
			return []string{m.is.Text()}, nil
		}
	}
	return nil, ErrNoSchema
}
