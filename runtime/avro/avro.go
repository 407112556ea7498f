// Package avro unpacks record values and keys that are written in Avro. Generated code uses it for
// topics with encoding avro or confluent_avro. It converts them to JSON with the names of the
// schema, and the decoder of the event reads that (docs/encodings.md, Encoded values).
//
// It must not import any package of this module but avromsg, frame, packed and wire.
package avro

import (
	"context"
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/internal/avromsg"
	"github.com/idemgen/idemgen/internal/frame"
	"github.com/idemgen/idemgen/runtime/internal/packed"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Message is the Avro type of a topic's values or record keys. It is safe for concurrent use.
type Message struct {
	is      *avromsg.Type
	framed  bool
	part    packed.Part
	schemas *schemas // that values were written with; nil in tests of a message alone
}

// Registry provides the schemas that producers write with. Package registry implements it for
// registries that have Confluent's API.
type Registry interface {
	// Schema returns the schema with this number as the last element, and before it the schemas
	// that it refers to, each one after those that it refers to itself. If it returns
	// [ErrNoSchema], records with this number become dead letters. Any other error may be
	// temporary: the records wait.
	Schema(ctx context.Context, number uint32) ([]string, error)
}

// GUIDs is what a [Registry] may also implement: schemas by their GUIDs, which records may have in
// a header in place of a number. Without it, such records become dead letters.
type GUIDs interface {
	// SchemaByGUID is Schema for a GUID in its usual form.
	SchemaByGUID(ctx context.Context, guid string) ([]string, error)
}

// ErrNoSchema means that the registry has no usable schema with the number. An error that wraps it
// says why.
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
// registry write: a zero byte, and the number of the schema that the value was written with. All
// records wait until [Message.From] gives it a registry.
func NewFramed(schema, name string) *Message {
	m := New(schema, name)
	m.framed, m.schemas = true, newSchemas(m.is, none{})
	return m
}

// OfKeys returns the same type for record keys.
func (m *Message) OfKeys() *Message {
	return &Message{is: m.is, framed: m.framed, part: true, schemas: m.schemas}
}

// From returns the same type with the registry that provides the schemas it was written with. If r
// is nil, all records wait.
func (m *Message) From(r Registry) *Message {
	if r == nil {
		r = none{}
	}
	return &Message{is: m.is, framed: true, part: m.part, schemas: newSchemas(m.is, r)}
}

// Prepare queries the registry for the schemas of records that are not yet known, several at a
// time. It returns how many of the first records can be decoded now, and an error if none can.
func (m *Message) Prepare(ctx context.Context, records []wire.Message) (n int, err error) {
	asked := map[frame.Schema]bool{}
	var all []frame.Schema
	var first []int // by schema: the first record that names it
	for i := range records {
		schema, _, bad := m.split(&records[i])
		if m.part.Of(&records[i]) == nil || bad != nil || asked[schema] {
			continue
		}
		asked[schema] = true
		all, first = append(all, schema), append(first, i)
	}
	done, err := m.schemas.prepare(ctx, all)
	switch {
	case err == nil:
		return len(records), nil
	case first[done] > 0:
		return first[done], nil
	}
	return 0, fmt.Errorf("schema %v of offset %d cannot be read: %w", all[done], records[0].Offset, err)
}

// Prepare returns a function that prepares the values and the keys of records.
func Prepare(messages ...*Message) func(context.Context, []wire.Message) (int, error) {
	return func(ctx context.Context, records []wire.Message) (int, error) {
		for _, m := range messages {
			n, err := m.Prepare(ctx, records)
			if err != nil {
				return 0, err
			}
			records = records[:n]
		}
		return len(records), nil
	}
}

// split returns the schema that a record names, in a header or before the bytes, and the bytes.
func (m *Message) split(r *wire.Message) (schema frame.Schema, packed []byte, err error) {
	packed = m.part.Of(r)
	schema, named, err := m.part.Named(r)
	if err == nil && !named {
		schema, packed, err = frame.Split(packed)
	}
	return schema, packed, err
}

// open decodes a value or a key to JSON of at most most bytes, which it appends to into. It also
// says why a field cannot read some of its values.
func (m *Message) open(into []byte, r *wire.Message, most int) (text []byte, why map[int]string, err error) {
	if !m.framed {
		return m.is.OpenWithin(into, m.part.Of(r), m.is.Own(), most)
	}
	schema, value, err := m.split(r)
	if err != nil {
		return nil, nil, err
	}
	w := m.schemas.find(schema)
	if err := w.reason(schema); err != nil {
		return nil, nil, err
	}
	text, why, err = m.is.OpenWithin(into, value, w.as, most)
	if err != nil {
		err = fmt.Errorf("%w (schema %v)", err, schema)
	}
	return text, why, err
}

type none struct{}

// Schema implements [Registry].
func (none) Schema(context.Context, uint32) ([]string, error) {
	return nil, errors.New("NewConsumer was called without a schema registry: pass registry.New(client)")
}

// Encoding unpacks the values, or the record keys, of a topic. It is not safe for concurrent use.
type Encoding struct {
	Message *Message
	Most    int // limit of a value's size as JSON, in bytes: limits.max_payload; 0 means no limit
	memory  []byte
}

// Open returns m with its value, or its key, converted to JSON, valid until the next Open. A
// record without it is returned unchanged. If it cannot be decoded, Open returns a
// [*wire.DecodeError].
func (e *Encoding) Open(m *wire.Message) (*wire.Message, error) {
	part := e.Message.part
	if part.Of(m) == nil {
		return m, nil
	}
	text, why, err := e.Message.open(e.memory[:0], m, e.Most)
	if err != nil {
		return nil, part.Refused(err)
	}
	e.memory = text
	return part.With(m, text, why), nil
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
