package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// askSQL asks, unless somebody asked before. A replay has a number, by which an effect knows that
// it was asked for after what became of its last call. With a condition on the state alone
// Postgres may take an index of the open letters, and read all of them for each one.
const askSQL = `
UPDATE idem_dead_letter d SET asked = $4::text::"char", asked_at = clock_timestamp(), asked_by = $5, answer = NULL, answered_at = NULL,
    asked_number = CASE WHEN $4::text = 'r' THEN nextval('idem_fence') END, asked_result = $6::bytea,
    asked_with_result = $6::bytea IS NOT NULL
FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS a (stream, offs, seq)
WHERE d.stream = a.stream AND d.offs = a.offs AND d.seq = a.seq AND CASE WHEN d.state = 'd' THEN d.asked IS NULL END`

// Ask asks the owner of a letter's partition to replay or to discard it. It does so between two
// batches, within seconds; if the partition has no owner, the next one does. A letter is asked
// about once: what came of it is in its row. An effect whose call failed, or was interrupted, is
// called again for a replay.
func Ask(ctx context.Context, db DB, l Letter, verb string, by By) (Letter, error) {
	return only(ask(ctx, db, []Letter{l}, verb, nil, by))
}

// AskAll asks about letters, as [Ask] does about one. If one of them cannot be asked about,
// nothing is asked; it returns them as they are then.
func AskAll(ctx context.Context, db DB, letters []Letter, verb string, by By) ([]Letter, error) {
	return ask(ctx, db, letters, verb, nil, by)
}

// only is what is returned of one letter.
func only(now []Letter, err error) (Letter, error) {
	if len(now) == 0 {
		return Letter{}, err
	}
	return now[0], err
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
	return only(ask(ctx, db, []Letter{l}, "replay", compact.Bytes(), by))
}

// mostResult is how many bytes of a result are taken.
const mostResult = 1 << 20

func ask(ctx context.Context, db DB, letters []Letter, verb string, result []byte, by By) ([]Letter, error) {
	asked := map[string]string{"replay": "r", "discard": "x"}[verb]
	if asked == "" {
		return letters, fmt.Errorf("a letter is replayed or discarded, not %q", verb)
	}
	for i := range letters {
		if err := letters[i].may(verb); err != nil {
			return letters, err
		}
	}
	who, err := by.said(ctx, db)
	if err != nil {
		return letters, err
	}
	if by.DryRun {
		letters = slices.Clone(letters)
		for i := range letters {
			letters[i].Request = &Request{For: verb, By: who, Result: result != nil}
		}
		return letters, nil
	}
	now, did, err := rewrite(ctx, db, letters, askSQL, asked, who, result)
	if err == nil && did == 0 && len(now) == 1 {
		err = now[0].may(verb)
	}
	return now, err
}

const takeBackSQL = `
UPDATE idem_dead_letter d SET asked = NULL, asked_number = NULL, asked_result = NULL, answer = $4, answered_at = clock_timestamp()
FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS a (stream, offs, seq)
WHERE d.stream = a.stream AND d.offs = a.offs AND d.seq = a.seq AND CASE WHEN d.state = 'd' THEN d.asked IS NOT NULL END`

// TakeBack takes back what was asked about letters and is not done yet. The call of an effect
// that was begun for one is not ended, and what it returns is recorded.
func TakeBack(ctx context.Context, db DB, letters []Letter, by By) ([]Letter, error) {
	who, err := by.said(ctx, db)
	for i := range letters {
		if err == nil {
			err = letters[i].asksNothing()
		}
	}
	if err != nil || by.DryRun {
		return letters, err
	}
	now, _, err := rewrite(ctx, db, letters, takeBackSQL, "taken back by "+who)
	return now, err
}

// asksNothing says why nothing can be taken back.
func (l *Letter) asksNothing() error {
	switch {
	case !l.Open():
		return fmt.Errorf("%s was %s by %s", l.Name(), l.State, l.End.By)
	case l.Asked() == "":
		return fmt.Errorf("%s: nothing is asked for", l.Name())
	}
	return nil
}

// portion is how many letters are changed, or read, at once.
const portion = 500

// rewrite changes the rows of letters by a statement, in portions, and reads them again. did is
// how many it changed.
func rewrite(ctx context.Context, db DB, letters []Letter, sql string, args ...any) (now []Letter, did int64, err error) {
	for some := range slices.Chunk(letters, portion) {
		tx, err := db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
		if err != nil {
			return now, did, Explain(err)
		}
		tag, err := tx.Exec(ctx, sql, append(append([]any{pgx.QueryExecModeExec}, places(some)...), args...)...)
		if err == nil {
			err = tx.Commit(ctx)
		}
		if err != nil {
			_ = tx.Rollback(context.WithoutCancel(ctx))
			return now, did, Explain(err)
		}
		did += tag.RowsAffected()
		are, err := Refresh(ctx, db, some)
		if now = append(now, are...); err != nil {
			return now, did, err
		}
	}
	return now, did, nil
}

// places are letters as parameters.
func places(letters []Letter) []any {
	var streams []int32
	var offsets, seqs []int64
	for _, l := range letters {
		streams, offsets, seqs = append(streams, l.stream), append(offsets, l.Offset), append(seqs, l.Seq)
	}
	return []any{streams, offsets, seqs}
}

// may says why nothing can be asked about a letter.
func (l *Letter) may(verb string) error {
	switch {
	case l.State == "waiting":
		return fmt.Errorf("%s waits behind a dead letter of its record key: replay or discard that one (%s)", l.Name(), l.Text())
	case !l.Open():
		return fmt.Errorf("%s was %s by %s", l.Name(), l.State, l.End.By)
	case l.Asked() != "":
		return fmt.Errorf("%s: a %s is asked for already, since %s by %s (idemgen dead replay --take-back)", l.Name(), l.Asked(), l.Request.At.Format(time.RFC3339), l.Request.By)
	case verb == "replay" && l.ErasedBy != "":
		return fmt.Errorf("%s: its record was erased by %s: it can be discarded only", l.Name(), l.ErasedBy)
	case verb == "replay" && !l.Kept:
		return fmt.Errorf("%s: its record is not kept (on_failure.dead_letter_payload, or it is longer than 16 MiB): it can be discarded only", l.Name())
	}
	return nil
}
