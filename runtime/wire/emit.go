package wire

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// OutEvent says how values of one generated struct are sent: as rows of the outbox, until a relay
// has sent those. It is read only.
type OutEvent[E any] struct {
	Outbox *Outbox
	Name   string // of the event in the spec
	Topic  string
	Type   string
	Key    func(e *E) string               // the record's key
	Value  func(e *E, b []byte) []byte     // appends the value as JSON; nil for a tombstone
	Header func(e *E, name string) *string // of the headers that the spec declares; nil = the record has none
}

// Emission is an event on its way into the outbox.
type Emission struct {
	outbox  *Outbox
	id      UUID
	topic   string
	key     string
	typ     string
	value   []byte // nil is a tombstone
	headers []*string
}

// Emit puts e into the outbox, in tx: it is sent if tx commits. In a handler its id comes from
// what the handler was called for, so that a second try sends the same one; elsewhere it is a
// random UUID.
func (o *OutEvent[E]) Emit(ctx context.Context, tx Tx, e *E) error {
	if of, ok := ctx.Value(emitsKey{}).(*Emits); ok {
		return o.EmitAs(ctx, tx, of.next(o.Name), e)
	}
	return o.EmitAs(ctx, tx, randomUUID(), e)
}

// EmitAs is Emit with an id of the caller's.
func (o *OutEvent[E]) EmitAs(ctx context.Context, tx Tx, id UUID, e *E) error {
	em := o.emission(id, e)
	if err := em.check(o.Name); err != nil {
		return err
	}
	if q, ok := tx.(interface{ Queue(Emission) (bool, error) }); ok {
		if queued, err := q.Queue(em); queued || err != nil {
			return err
		}
	}
	return EmitAll(ctx, tx, []Emission{em})
}

func (o *OutEvent[E]) emission(id UUID, e *E) Emission {
	em := Emission{outbox: o.Outbox, id: id, topic: o.Topic, key: o.Key(e), typ: o.Type}
	if o.Value != nil {
		em.value = o.Value(e, nil)
	}
	for _, h := range o.Outbox.Headers {
		var v *string
		if o.Header != nil {
			v = o.Header(e, h.Name)
		}
		em.headers = append(em.headers, v)
	}
	return em
}

// check refuses what nobody could read: a service's own code may emit anything.
func (em *Emission) check(event string) error {
	texts := []string{em.key}
	for _, h := range em.headers {
		if h != nil {
			texts = append(texts, *h)
		}
	}
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fmt.Errorf("idem: %s: its record key or a header is not a text: write UTF-8 without zero bytes", event)
		}
	}
	switch {
	case em.key == "":
		return fmt.Errorf("idem: %s: its record key is empty", event)
	case em.value != nil && (!utf8.Valid(em.value) || !json.Valid(em.value)):
		return fmt.Errorf("idem: %s: a value cannot be written as JSON: texts must be UTF-8, and numbers finite", event)
	}
	return nil
}

// Insert is the statement that puts events into the outbox, in their order. Each parameter is an
// array. The last three say of an event that a step under another one sends: that one's setting
// (NULL for others), its number, and whether the event is sent if it was skipped.
func (o *Outbox) Insert() string {
	columns := "event_id, topic, record_key, event_type, payload"
	types := []string{"uuid", "text", "text", "text", "bytea"}
	for _, h := range o.Headers {
		columns += ", " + h.Column
		types = append(types, "text")
	}
	types = append(types, "text", "integer", "boolean")
	for i, t := range types {
		types[i] = fmt.Sprintf("$%d::%s[]", i+1, t)
	}
	return `
INSERT INTO ` + o.Table + ` (` + columns + `)
SELECT ` + columns + `
FROM unnest(` + strings.Join(types, ", ") + `)
    WITH ORDINALITY AS e (` + columns + `, asks, of_number, otherwise, ordinal)
WHERE asks IS NULL
    OR (of_number = ANY (coalesce(nullif(current_setting(asks, true), ''), '{}')::integer[])) <> otherwise
ORDER BY ordinal`
}

// EmitAll inserts events in their order. The runtime calls it when a handler has returned, so
// that ids are drawn behind the locks of its rows.
func EmitAll(ctx context.Context, tx Tx, all []Emission) error {
	if len(all) == 0 {
		return nil
	}
	n := len(all)
	ids, values := make([]UUID, n), make([][]byte, n)
	topics, keys, types := make([]string, n), make([]string, n), make([]string, n)
	args := []any{ids, topics, keys, types, values}
	o := all[0].outbox
	for h := range o.Headers {
		column := make([]*string, n)
		for i := range all {
			column[i] = all[i].headers[h]
		}
		args = append(args, column)
	}
	for i, em := range all {
		ids[i], topics[i], keys[i], types[i], values[i] = em.id, em.topic, em.key, em.typ, em.value
	}
	args = append(args, make([]*string, n), make([]int32, n), make([]bool, n)) // under no step
	_, err := tx.Exec(ctx, o.Insert(), args...)
	return err
}

func randomUUID() (u UUID) {
	_, _ = rand.Read(u[:]) // never fails
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return u
}
