package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// askSQL asks, unless somebody asked before. A replay has a number, by which an effect knows that
// it was asked for behind what became of its last call.
const askSQL = `
UPDATE idem_dead_letter SET asked = $4::text::"char", asked_at = clock_timestamp(), asked_by = $5, answer = NULL, answered_at = NULL,
    asked_number = CASE WHEN $4::text = 'r' THEN nextval('idem_fence') END, asked_result = $6::bytea,
    asked_with_result = $6::bytea IS NOT NULL
WHERE stream = $1 AND offs = $2 AND seq = $3 AND state = 'd' AND asked IS NULL`

// Ask asks the owner of a letter's partition to replay or to discard it. It does so between two
// batches, within seconds; if the partition has no owner, the next one does. A letter is asked
// about once: what came of it is in its row. An effect whose call failed, or was interrupted, is
// called again for a replay.
func Ask(ctx context.Context, db DB, l Letter, verb string, by By) (Letter, error) {
	return ask(ctx, db, l, verb, nil, by)
}

// AskWithResult asks for a replay, and says what the letter's effect returned, as JSON: it is not
// called then. An effect without a result has null. The owner refuses what does not fit.
func AskWithResult(ctx context.Context, db DB, l Letter, result []byte, by By) (Letter, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, result); err != nil {
		return l, fmt.Errorf("the result is no JSON: %w", err)
	}
	if n := compact.Len(); n > mostResult {
		return l, fmt.Errorf("the result has %d bytes, more than %d", n, mostResult)
	}
	return ask(ctx, db, l, "replay", compact.Bytes(), by)
}

// mostResult is how many bytes of a result are taken.
const mostResult = 1 << 20

func ask(ctx context.Context, db DB, l Letter, verb string, result []byte, by By) (Letter, error) {
	asked := map[string]string{"replay": "r", "discard": "x"}[verb]
	if asked == "" {
		return l, fmt.Errorf("a letter is replayed or discarded, not %q", verb)
	}
	if err := l.may(verb); err != nil {
		return l, err
	}
	who, err := by.said(ctx, db)
	if err != nil {
		return l, err
	}
	if by.DryRun {
		l.Request = &Request{For: verb, By: who, Result: result != nil}
		return l, nil
	}
	tx, err := db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return l, err
	}
	tag, err := tx.Exec(ctx, askSQL, pgx.QueryExecModeExec, l.stream, l.Offset, l.Seq, asked, who, result)
	if err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx))
		return l, Explain(err)
	}
	now, err := l.Again(ctx, db)
	if err == nil && tag.RowsAffected() == 0 {
		err = now.may(verb)
	}
	return now, err
}

// may says why nothing can be asked about a letter.
func (l *Letter) may(verb string) error {
	switch {
	case l.State == "waiting":
		return fmt.Errorf("%s waits behind a dead letter of its record key: replay or discard that one (%s)", l.Name(), l.Text())
	case !l.Open():
		return fmt.Errorf("%s was %s by %s", l.Name(), l.State, l.End.By)
	case l.Asked() != "":
		return fmt.Errorf("%s: a %s is asked for already, since %s by %s", l.Name(), l.Asked(), l.Request.At.Format(time.RFC3339), l.Request.By)
	case verb == "replay" && l.ErasedBy != "":
		return fmt.Errorf("%s: its record was erased by %s: it can be discarded only", l.Name(), l.ErasedBy)
	case verb == "replay" && !l.Kept:
		return fmt.Errorf("%s: its record is not kept (on_failure.dead_letter_payload): it can be discarded only", l.Name())
	}
	return nil
}
