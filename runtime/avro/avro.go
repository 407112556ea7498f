// Package avro unpacks record values that are written in Avro. Generated code uses it for topics
// with encoding avro or confluent_avro. It converts a value to JSON with the names of the schema,
// and the decoder of the event reads that (docs/spec.md, Packed values).
//
// It must not import any package of this module but avromsg, frame and wire.
package avro

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idemgen/idemgen/internal/avromsg"
	"github.com/idemgen/idemgen/internal/frame"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Message is the Avro type of a topic's values. It is safe for concurrent use.
type Message struct {
	is       *avromsg.Type
	framed   bool
	registry Registry // nil in tests of a message alone

	mu    sync.RWMutex
	known map[uint32]written // schemas that values were written with, by number
}

// written determines how values with one writer's schema are decoded.
type written struct {
	as    *avromsg.Written
	err   error     // why they cannot be decoded
	until time.Time // of err: when the registry is queried again
}

// keepErrors is the time after which the registry is queried again for a schema that it does not
// have, or that is invalid. Many records may name the same schema.
const keepErrors = 10 * time.Second

// Registry provides the schemas that producers write with. Package registry implements it for
// registries that have Confluent's API.
type Registry interface {
	// Schema returns the schema with this number as the last element, and before it the schemas
	// that it refers to, each one after those that it refers to itself. If it returns
	// [ErrNoSchema], records with this number become dead letters. Any other error may be
	// temporary: the records wait.
	Schema(ctx context.Context, number uint32) ([]string, error)
}

// ErrNoSchema means that the registry has no schema with the number.
var ErrNoSchema = errors.New("there is no such schema")

// New returns the type called name in a schema, or the type of the whole schema if name is "". New
// panics if the schema is invalid or lacks the name, which only wrongly generated code can cause.
func New(schema, name string) *Message {
	is, err := avromsg.New(schema, name)
	if err != nil {
		panic(fmt.Sprintf("idem: the schema of %s: %v", name, err))
	}
	return &Message{is: is}
}

// NewFramed is like New, for values that begin with the prefix that serializers of Confluent's
// registry write: a zero byte, and the number of the schema that the value was written with.
func NewFramed(schema, name string) *Message {
	m := New(schema, name)
	m.framed = true
	return m
}

// From returns the same type with the registry that provides the schemas of its values. If r is
// nil, all records wait.
func (m *Message) From(r Registry) *Message {
	if r == nil {
		r = none{}
	}
	return &Message{is: m.is, framed: true, registry: r, known: map[uint32]written{}}
}

// Prepare queries the registry for the schemas of records that are not yet known. It returns how
// many of the first records can be decoded now, and an error if none can.
func (m *Message) Prepare(ctx context.Context, records []wire.Message) (n int, err error) {
	asked := map[uint32]bool{}
	for i := range records {
		number, _, bad := frame.Split(records[i].Value)
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

// ask queries the registry for one schema.
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

// open decodes a value to JSON of at most most bytes, which it appends to into.
func (m *Message) open(into, value []byte, most int) ([]byte, error) {
	if !m.framed {
		return m.is.OpenWithin(into, value, m.is.Own(), most)
	}
	number, value, err := frame.Split(value)
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

// Encoding unpacks the values of a topic. It is not safe for concurrent use.
type Encoding struct {
	Message *Message
	Most    int // limit of a value's size as JSON, in bytes: limits.max_payload; 0 means no limit
	memory  []byte
}

// Open returns m with its value converted to JSON, valid until the next Open. A record without a
// value is returned unchanged. If the value cannot be decoded, Open returns a [*wire.DecodeError].
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

// Own returns a registry of the types' own schemas, for tests.
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
