package deadletter

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/record"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// States of a letter, as idem_dead_letter.state has them.
const (
	Dead      = 'd'
	Waiting   = 'w' // behind a dead one of its record key
	Replayed  = 'r'
	Discarded = 'x'
)

// Open is a letter that an operator asks about.
type Open struct {
	Offset, Seq int64
	State       byte // Dead or Waiting
	Asked       byte // Replayed or Discarded
	AskedAt     time.Time
	By          string       // who asks, and why
	Message     wire.Message // empty if Lost is not nil
	Lost        error        // why the record cannot be decided again; nil if it can
}

const askedSQL = `
SELECT offs, seq, state, asked, asked_at, coalesce(asked_by, ''), record FROM idem_dead_letter
WHERE stream = $1 AND asked IS NOT NULL AND state IN ('d', 'w') ORDER BY asked_at, offs, seq LIMIT 100`

// Querier is a connection, or a pool of them.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Asked reads the letters of a partition that operators ask about, in the order in which they
// asked; not more than 100.
func Asked(ctx context.Context, db Querier, of idemtype.Partition, stream int32) ([]Open, error) {
	rows, err := db.Query(ctx, askedSQL, stream)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (l Open, err error) {
		var stored []byte
		if err := r.Scan(&l.Offset, &l.Seq, &l.State, &l.Asked, &l.AskedAt, &l.By, &stored); err != nil {
			return l, err
		}
		l.read(of, stored)
		return l, nil
	})
}

// errDropped says that a letter has no record.
var errDropped = fmt.Errorf("its record is not kept (on_failure.dead_letter_payload), or was erased: it can be discarded only")

// read reads the stored record.
func (l *Open) read(of idemtype.Partition, stored []byte) {
	if stored == nil {
		l.Lost = errDropped
		return
	}
	l.Message, l.Lost = record.Parse(stored)
	l.Message.Topic, l.Message.Partition, l.Message.Offset = of.Topic, of.Number, l.Offset
}

// Settling is what becomes of an open letter, in the transaction of a row of the chain.
type Settling struct {
	Letter *Open
	State  byte   // Replayed or Discarded
	Answer string // for who asked
}

// Decided says what the record of a letter that is replayed does. It may be called for nil.
func (s *Settling) Decided(r idemtype.Result) {
	if s == nil || s.State != Replayed {
		return
	}
	switch s.Answer = "replayed"; {
	case r.Duplicates > 0:
		s.Answer = "replayed, without effect: a copy of it was applied before"
	case r.Ignored > 0:
		s.Answer = "replayed, without effect: the spec passes over it"
	}
}

// Info is what the chain's row says of it.
func (s *Settling) Info() string {
	verb := "replayed"
	if s.State == Discarded {
		verb = "discarded"
	}
	return fmt.Sprintf("%s offset %d for %s", verb, s.Letter.Offset, s.Letter.By)
}

// settleSQL is refused (23514 on idem_assert) unless the letter is in the state that it was read
// in: then the transaction's effect was made for nothing, or is another's.
const settleSQL = `
WITH letter AS (
    UPDATE idem_dead_letter SET state = $5::"char", resolved_at = clock_timestamp(), resolved_seq = $6::bigint, resolved_by = $7::text,
        asked = NULL, answer = $8::text, answered_at = clock_timestamp(), expires_at = clock_timestamp() + (expires_at - created_at)
    WHERE stream = $1::int AND offs = $2::bigint AND seq = $3::bigint AND state = $4::"char" RETURNING offs
)
INSERT INTO idem_assert (what) SELECT 'letter' WHERE NOT EXISTS (SELECT FROM letter)`

// Settle settles open letters.
var Settle = session.NewStatement("settle_letter", settleSQL)

// Statement settles the letter with a row of its stream's chain.
func (s *Settling) Statement(stream int32, seq int64) pipeline.Statement {
	l := s.Letter
	return pipeline.Statement{Is: Settle, Args: [][]byte{
		ledger.Int4(stream), ledger.Int8(l.Offset), ledger.Int8(l.Seq), {l.State}, {s.State}, ledger.Int8(seq), []byte(l.By), []byte(s.Answer),
	}}
}

const answerSQL = `
UPDATE idem_dead_letter SET asked = NULL, answer = $5, answered_at = clock_timestamp()
WHERE stream = $1 AND offs = $2 AND seq = $3 AND asked_at = $4 AND state IN ('d', 'w')`

// Answer tells who asked that a letter stays as it is, and why. Nothing else changes.
func Answer(ctx context.Context, conn *pgx.Conn, stream int32, l *Open, why string) error {
	_, err := conn.Exec(ctx, answerSQL, stream, l.Offset, l.Seq, l.AskedAt, why)
	return err
}
