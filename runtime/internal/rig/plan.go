package rig

import (
	"context"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// plan is a plan as generated code would be, for records whose value is "verb row number": put
// upserts, add inserts, need updates and must find the row, call calls the handler, locked calls
// it under a lock, effect puts the number that the effect returns, skip is ignored, stop halts.
// Header key is the idempotency key, header here is one with copies: same_partition; without them
// the record is identified by its offset.
type plan struct {
	handle func(ctx context.Context, tx idem.Tx, row int32) error
	effect func(ctx context.Context, row int32) (number int32, err error)
	terms  *wire.EffectTerms
	// resultless says that the effect returns nothing.
	resultless bool
	// unit is what results begin with; those without it are read, too.
	unit string

	content uint32
	key     wire.KeyBuilder
	upserts wire.Rows
	inserts wire.Rows
	updates wire.Rows
}

const (
	UpsertSQL = `
WITH e AS (SELECT unnest($1::integer[]) AS id, unnest($2::integer[]) AS v)
INSERT INTO t (id, v) SELECT id, v FROM e ORDER BY id ON CONFLICT (id) DO UPDATE SET v = excluded.v`
	insertSQL = `
WITH e AS (SELECT unnest($1::integer[]) AS id, unnest($2::integer[]) AS v)
INSERT INTO t (id, v) SELECT id, v FROM e ORDER BY id`
	updateSQL = `
WITH e AS (SELECT *, row_number() OVER () AS n FROM (SELECT unnest($1::integer[]) AS id, unnest($2::integer[]) AS v) AS e),
u AS (UPDATE t SET v = e.v FROM e WHERE t.id = e.id RETURNING e.n)
INSERT INTO idem_step_refused (reason, in_table) SELECT 'no row with this key', 't' FROM e WHERE NOT EXISTS (SELECT FROM u WHERE u.n = e.n)`
)

func (p *plan) Add(b *wire.Batch, m *wire.Message) error {
	verb, rest, _ := strings.Cut(string(m.Value), " ")
	row, number, _ := strings.Cut(rest, " ")
	id, err := strconv.ParseInt(row, 10, 32)
	if err != nil {
		return &wire.DecodeError{Event: "Test", Path: "row", Reason: "must be a number"}
	}
	v, _ := strconv.ParseInt(number, 10, 32)
	if len(m.Headers) > 0 {
		p.key.Start("0123456789abcdef")
		p.key.Header(m, m.Headers[0].Name)
		key, err := p.key.Sum("Test")
		if err != nil {
			return err
		}
		here := m.Headers[0].Name == "here"
		if fresh, err := b.Claim("Test", key, p.content, uint32(id)<<16|uint32(v), here); !fresh {
			return err
		}
	}
	switch verb {
	case "skip":
		b.Ignore()
		return nil
	case "stop":
		_, err := stopping.Take(b, m, refusing{}, &struct{}{})
		return err
	case "call":
		b.Call(m, wire.Call{Event: "Test", Fn: func(ctx context.Context, tx idem.Tx) error {
			return p.handle(ctx, tx, int32(id))
		}})
		return nil
	}
	if verb == "effect" {
		ok := false
		if v, ok, err = p.result(b, m, int32(id)); !ok {
			return err
		}
		verb = "put"
	}
	rows := map[string]*wire.Rows{"put": &p.upserts, "add": &p.inserts, "need": &p.updates}[verb]
	b.Puts(wire.Row("t").Int(id))
	r := rows.Row()
	r.Int4(int32(id))
	r.Int4(int32(v))
	return nil
}

// result is what the record's effect returned.
func (p *plan) result(b *wire.Batch, m *wire.Message, id int32) (v int64, ok bool, err error) {
	e := wire.Effect{Event: "Test", Terms: p.terms, Fn: func(ctx context.Context) ([]byte, error) {
		n, err := p.effect(ctx, id)
		if p.resultless {
			return nil, err
		}
		return []byte(p.unit + strconv.Itoa(int(n))), err
	}}
	if !p.resultless {
		e.Read = func(result []byte) (err error) {
			number, _ := strings.CutPrefix(string(result), p.unit)
			if v, err = strconv.ParseInt(number, 10, 32); err != nil || v < 0 {
				return &wire.DecodeError{Event: "Test", Class: wire.ReasonResult, Path: "result", Reason: "must be a number"}
			}
			return nil
		}
	}
	ok, err = b.Effect(m, e)
	return v, ok, err
}

func (p *plan) Flush(b *wire.Batch) {
	b.Write(insertSQL, &p.inserts)
	b.Write(UpsertSQL, &p.upserts)
	b.Write(updateSQL, &p.updates)
}

// stopping is an event that no record is, and whose on_failure says stop.
var stopping = wire.Event[struct{}, refusing]{OnFailure: &wire.FailurePolicy{Stop: true}, Decode: func(*struct{}, refusing, *wire.Message) {}}

// refusing is a decoder that takes nothing.
type refusing struct{}

func (refusing) Borrow(*wire.Message) {}

func (refusing) Reset(*wire.Message) {}

func (refusing) Finish(string) error { return wire.Unknown("stop") }
