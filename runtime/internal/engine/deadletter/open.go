package deadletter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// States of a letter, as stored in idem_dead_letter.state.
const (
	Dead      = 'd'
	Waiting   = 'w' // parked behind a dead letter of its record key
	Replayed  = 'r'
	Discarded = 'x'
)

// Open is a letter with an operator's request, or a parked record that may now be applied.
type Open struct {
	Offset, Seq int64
	State       byte // Dead or Waiting
	OrderKey    *wire.UUID
	Parks       bool // later records of its record key are parked behind it
	Asked       byte // Replayed or Discarded
	AskedAt     time.Time
	By          string       // who made the request, and why
	Number      int64        // of the request, from idem_fence; 0 for a parked record
	Result      []byte       // result of its effect, as stated in the request; nil if none
	Returned    []byte       // what the call of its effect returned; nil if none was made and recorded
	Message     wire.Message // empty if Lost is not nil
	Lost        error        // why the record cannot be decided again; nil if it can
	ErasedBy    string       // who erased its record; "" if it was not erased
}

// errDropped means that a letter has no record.
var errDropped = errors.New("its record is not kept (on_failure.dead_letter_payload, or it is longer than 16 MiB): it can only be discarded")

// Dropped reports whether the record is missing, not just unreadable.
func (l *Open) Dropped() bool { return errors.Is(l.Lost, errDropped) || l.ErasedBy != "" }

// read reads the stored record.
func (l *Open) read(of idemtype.Partition, stored []byte) {
	switch {
	case l.ErasedBy != "":
		l.Lost = fmt.Errorf("its record was erased by %s: it can only be discarded", l.ErasedBy)
		return
	case stored == nil:
		l.Lost = errDropped
		return
	}
	l.Message, l.Lost = record.Parse(stored)
	l.Message.Topic, l.Message.Partition, l.Message.Offset = of.Topic, of.Number, l.Offset
}

// Settling is the new state of an open letter, in the transaction of a row of the chain.
type Settling struct {
	Letter *Open
	State  byte    // Replayed or Discarded; Dead if the record of a parked one is rejected
	Answer string  // for the operator who made the request
	Dead   *Letter // of Dead: the record's dead letter
	Drop   bool    // of Dead: its record is not kept
	Other  bool    // its effect already has another result than the given one
}

// Decided sets what the record of a replayed letter does, and the results of effects on which its
// rows depend.
func (s *Settling) Decided(r idemtype.Result, effects []wire.EffectResult) {
	if s.State != Replayed {
		return
	}
	other := func(e wire.EffectResult) bool { return !bytes.Equal(e.Result, s.Letter.Result) }
	s.Other = s.Letter.Result != nil && slices.ContainsFunc(effects, other)
	switch s.Answer = "replayed"; {
	case r.Duplicates > 0:
		s.Answer = "replayed, without effect: a duplicate of it was applied before"
	case r.Ignored > 0:
		s.Answer = "replayed, without effect: the spec ignores it"
	case s.Other:
		s.Answer = "replayed with the result recorded before, instead of the one that was given"
	}
}

// Gives reports whether the request states the result of the record's effect.
func (s *Settling) Gives() bool { return s.State == Replayed && s.Letter.Result != nil }

// Info returns the text for the chain's row.
func (s *Settling) Info() string {
	verb := map[byte]string{Replayed: "replayed", Discarded: "discarded", Dead: "refused"}[s.State]
	return fmt.Sprintf("%s offset %d for %s", verb, s.Letter.Offset, s.Letter.By)
}

// settleSQL fails (23514 on idem_assert) if the letter is no longer in the state in which it was
// read, if the request was withdrawn or replaced by another one, or if its record has been erased
// since: then the transaction must not take effect.
const settleSQL = `
WITH letter AS (
    UPDATE idem_dead_letter SET state = $5::"char", resolved_at = CASE WHEN $9::text IS NULL THEN clock_timestamp() END,
        resolved_seq = CASE WHEN $9 IS NULL THEN $6::bigint END, resolved_by = CASE WHEN $9 IS NULL THEN $7::text END,
        asked = NULL, asked_number = NULL, asked_result = NULL, answer = $8::text, answered_at = clock_timestamp(), expires_at = greatest(clock_timestamp(), created_at) + (expires_at - created_at),
        reason = coalesce($9, reason), key = coalesce($11::uuid, key), result = coalesce($12::bytea, result), response = coalesce($13::bytea, response), version = coalesce(version, $14::text), record = CASE WHEN NOT $10::boolean THEN record END
    WHERE stream = $1::int AND offs = $2::bigint AND seq = $3::bigint AND state = $4::"char" AND ($5 = 'x' OR erased_by IS NULL) AND (state = 'w' OR asked IS NOT NULL AND asked_at = $15::timestamptz) RETURNING offs
)
INSERT INTO idem_assert (what) SELECT 'letter' WHERE NOT EXISTS (SELECT FROM letter)`

// Settle settles open letters.
var Settle = session.NewStatement("settle_letter", settleSQL)

// Statement settles the letter with a row of its stream's chain.
func (s *Settling) Statement(stream int32, seq int64) pipeline.Statement {
	l, drop := s.Letter, []byte{0}
	var reason, key, called, response []byte
	if dead := s.Dead; dead != nil {
		reason, called = []byte(dead.Reason), kept(dead.Returned, s.Drop)
		if !s.Drop {
			response = dead.Response
		}
		if dead.Key != nil {
			key = dead.Key[:]
		}
	}
	if s.Drop {
		drop[0] = 1
	}
	return pipeline.Statement{Is: Settle, Args: [][]byte{
		ledger.Int4(stream), ledger.Int8(l.Offset), ledger.Int8(l.Seq), {l.State}, {s.State}, ledger.Int8(seq), []byte(l.By), []byte(s.Answer), reason, drop, key, called, response, version, ledger.Timestamp(l.AskedAt),
	}}
}

const answerSQL = `
UPDATE idem_dead_letter SET asked = NULL, asked_number = NULL, asked_result = NULL, answer = $5, answered_at = clock_timestamp(), result = coalesce($7, result), response = coalesce($8, response)
WHERE stream = $1 AND offs = $2 AND seq = $3 AND asked_at = $4 AND state IN ('d', 'w') AND coalesce(erased_by, '') = $6`

// Answer stores, for the operator who made the request, why a letter stays as it is, unless the
// letter has been erased since it was read: the text might quote it. If its effect was called, the
// result, or the response, is kept. Nothing else changes.
func Answer(ctx context.Context, conn *pgx.Conn, stream int32, l *Open, why string, returned, response []byte) error {
	_, err := conn.Exec(ctx, answerSQL, stream, l.Offset, l.Seq, l.AskedAt, why, l.ErasedBy, returned, response)
	return err
}
