// Package eventkey makes the idempotency key of an event of texts, as people type them: the same
// bytes that the service makes of the record. It reads and writes no files.
//
// It must not import any package of this module but model, record, syntax and wire.
package eventkey

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Value is one part of a key: the name of its field or header, and its text as a header would
// hold it.
type Value struct {
	Name, Text string
}

// Of returns the keys of a topic's events that have just these parts, in the order of the spec.
// event is the name of the event; "" is any. Two events may share a
// key.
func Of(s *model.Service, topic, event string, values []Value) ([]record.EventKey, error) {
	t, err := find(s, topic)
	if err != nil {
		return nil, err
	}
	if err := once(values); err != nil {
		return nil, err
	}
	var keys []record.EventKey
	var have []string
	for _, e := range t.Events {
		if event != "" && e.Name != event {
			continue
		}
		have = append(have, e.Name+" "+describe(e))
		if e.Key.Offset || !same(e.Key.Parts, values) {
			continue
		}
		hash, err := sum(e, values)
		if err != nil {
			return nil, err
		}
		k := record.EventKey{Hash: hash, Event: e.Name, Window: e.Key.Window, Here: e.Key.SamePartition, Headers: map[string]string{}, Fields: map[string]string{}}
		for _, p := range e.Key.Parts {
			text, _ := textOf(p, values)
			switch {
			case p.Field == nil:
				k.Headers[p.Header] = text
			case p.Field.Source.Kind == model.FromHeader:
				k.Headers[p.Field.Source.Header] = stored(p.Field, p.Field.Source.Binary, text)
			case p.Field.Source.Kind == model.FromRecordKey:
				k.Fields[p.Field.Name] = stored(p.Field, t.RecordKey.Encoding == "binary", text)
			default:
				k.Fields[p.Field.Name] = text
			}
		}
		keys = append(keys, k)
	}
	switch {
	case have == nil:
		return nil, syntax.Unknown("topic "+t.Name, "event", event, eventNames(t))
	case keys == nil:
		return nil, fmt.Errorf("no event has a key of %s: %s", names(values), strings.Join(have, "; "))
	}
	return keys, nil
}

// Maker makes keys of one event from the texts of their parts.
type Maker struct {
	Parts  []string      // names of the parts, in the order of the spec
	Texts  []bool        // by part: any text is one, so nothing notices a value of another notation
	Window time.Duration // how long duplicates are detected
	Here   bool          // copies: same_partition
	Topic  string

	event *model.Event
}

// For returns the maker of an event's keys. The event must have a key.
func For(s *model.Service, event string) (*Maker, error) {
	var all []string
	for _, t := range s.Topics {
		for _, e := range t.Events {
			if all = append(all, e.Name); e.Name != event {
				continue
			}
			if e.Key.Offset {
				return nil, fmt.Errorf("%s is identified by its offset: it has no idempotency key", event)
			}
			m := &Maker{Window: e.Key.Window, Here: e.Key.SamePartition, Topic: t.Name, event: e}
			for _, p := range e.Key.Parts {
				m.Parts = append(m.Parts, partName(p))
				m.Texts = append(m.Texts, p.Field == nil || p.Field.Type.Kind == model.String)
			}
			return m, nil
		}
	}
	return nil, syntax.Unknown(s.Source, "event", event, all)
}

// Key makes the key of the texts of the parts, in their order.
func (m *Maker) Key(texts []string) ([16]byte, error) {
	values := make([]Value, len(texts))
	for i, text := range texts {
		values[i] = Value{m.Parts[i], text}
	}
	return sum(m.event, values)
}

// find finds what the spec says of a topic of Kafka.
func find(s *model.Service, topic string) (*model.Topic, error) {
	var all []string
	for _, t := range s.Topics {
		if t.Name == topic || t.Reads(topic) {
			return t, nil
		}
		all = append(all, t.Name)
	}
	return nil, syntax.Unknown(s.Source, "topic", topic, all)
}

func eventNames(t *model.Topic) (all []string) {
	for _, e := range t.Events {
		all = append(all, e.Name)
	}
	return all
}

// once refuses a part that has two texts.
func once(values []Value) error {
	for i, v := range values {
		if slices.ContainsFunc(values[:i], func(o Value) bool { return o.Name == v.Name }) {
			return fmt.Errorf("%s is given twice", v.Name)
		}
	}
	return nil
}

func partName(p model.KeySource) string {
	if p.Field == nil {
		return p.Header
	}
	return p.Field.Name
}

// describe says what identifies an event.
func describe(e *model.Event) string {
	if e.Key.Offset {
		return "is identified by its offset"
	}
	var parts []string
	for _, p := range e.Key.Parts {
		parts = append(parts, partName(p))
	}
	return "has " + strings.Join(parts, " and ")
}

func names(values []Value) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = v.Name
	}
	return strings.Join(all, " and ")
}

// same reports whether the values are just the parts.
func same(parts []model.KeySource, values []Value) bool {
	if len(parts) != len(values) {
		return false
	}
	for _, p := range parts {
		if _, found := textOf(p, values); !found {
			return false
		}
	}
	return true
}

func textOf(p model.KeySource, values []Value) (text string, found bool) {
	i := slices.IndexFunc(values, func(v Value) bool { return v.Name == partName(p) })
	if i < 0 {
		return "", false
	}
	return values[i].Text, true
}

// sum makes the key of an event.
func sum(e *model.Event, values []Value) ([16]byte, error) {
	var k wire.KeyBuilder
	k.Start(string(e.Key.Space[:]))
	for _, p := range e.Key.Parts {
		text, _ := textOf(p, values)
		name := partName(p)
		m := &wire.Message{Headers: []wire.Header{{Name: name, Value: []byte(text)}}}
		if p.Field == nil {
			k.Header(m, name)
			continue
		}
		if err := add(&k, m, p.Field); err != nil {
			return [16]byte{}, fmt.Errorf("%s of %s: %w", name, e.Name, err)
		}
	}
	key, err := k.Sum(e.Name)
	return key, err
}

// add adds a field, whose text is the only header of m.
func add(k *wire.KeyBuilder, m *wire.Message, f *model.Field) error {
	var r wire.Reader
	r.Own()
	t := r.Header(m, f.Name)
	switch f.Type.Kind {
	case model.String:
		k.Text(f.Name, t.String())
	case model.Enum:
		if err := known(f.Type.Named, t.String()); err != nil {
			return err
		}
		k.Text(f.Name, t.String())
	case model.UUID:
		k.UUID(f.Name, t.UUID())
	case model.Int32:
		k.Int32(f.Name, t.Int32())
	case model.Int64:
		k.Int64(f.Name, t.Int64())
	case model.Decimal:
		k.Decimal(f.Name, t.Decimal())
	case model.Timestamp:
		k.Time(f.Name, moment(t, f.Type))
	case model.Date:
		k.Date(f.Name, day(t, f.Type.Notation))
	case model.Bytes:
		k.Bytes(f.Name, t.Bytes())
	default:
		return errors.New("is of a type that no key has")
	}
	if failed := r.Failure(); failed != nil {
		return errors.New(failed.Reason)
	}
	return nil
}

// stored is a field's text as its header or its record key holds it, which may be binary.
func stored(f *model.Field, binaryForm bool, text string) string {
	if !binaryForm || f.Type.Kind == model.String {
		return text
	}
	var r wire.Reader
	r.Own()
	t := r.Header(&wire.Message{Headers: []wire.Header{{Name: f.Name, Value: []byte(text)}}}, f.Name)
	switch f.Type.Kind {
	case model.Int32:
		return string(binary.BigEndian.AppendUint32(nil, uint32(t.Int32())))
	case model.Int64:
		return string(binary.BigEndian.AppendUint64(nil, uint64(t.Int64())))
	case model.UUID:
		id := t.UUID()
		return string(id[:])
	}
	return string(t.Bytes())
}

// known refuses a text that is none of an enum.
func known(enum *model.Type, text string) error {
	var all []string
	for _, v := range enum.Enum {
		if v.Text == text {
			return nil
		}
		all = append(all, v.Text)
	}
	return fmt.Errorf("must be one of %s", strings.Join(all, ", "))
}

func moment(t wire.Text, is model.FieldType) time.Time {
	switch {
	case is.AnyTime:
		return t.AnyEpoch(is.Notation.Unit())
	case is.Notation == model.Usual:
		return t.Time()
	}
	return t.Epoch(is.Notation.Unit())
}

func day(t wire.Text, n model.Notation) wire.Date {
	if n == model.EpochDays {
		return t.EpochDays()
	}
	return t.Date()
}
