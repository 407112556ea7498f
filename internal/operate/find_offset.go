package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Verdict is what became of a record, as far as the database knows.
type Verdict string

// The verdicts.
const (
	Applied   Verdict = "applied"
	Covered   Verdict = "applied or duplicate" // a row covers it; or the spec ignores it, or there is no record
	Duplicate Verdict = "duplicate"
	Dead      Verdict = "dead letter"
	Waiting   Verdict = "waiting" // behind a dead letter of its record key
	Replayed  Verdict = "replayed"
	Discarded Verdict = "discarded"
	Skipped   Verdict = "skipped" // by an operator
	NotSeen   Verdict = "not seen yet"
	Outside   Verdict = "outside the window" // what is known does not reach back so far
	Unknown   Verdict = "not seen yet, or outside the window"
)

// Answer is what became of a record: one verdict, and what it follows from.
type Answer struct {
	Verdict Verdict `json:"verdict"`
	Because string  `json:"because"` // a sentence
	Event   string  `json:"event"`   // of a key; "" if an offset was asked for
	Key     string  `json:"key"`     // 32 hex digits, as Delivery.Key; "" unless a letter or a call has it
	Row     *Row    `json:"row"`     // of the ledger that the verdict follows from; nil is none
	Letter  *Letter `json:"letter"`  // nil is none
	Call    *Call   `json:"call"`    // of an event with an effect; nil is none
}

var verdictOf = map[string]Verdict{"dead": Dead, "waiting": Waiting, "replayed": Replayed, "discarded": Discarded}

// FindOffset says what became of the record at an offset. Where several times happened something
// to it, because a position was moved back, the last one counts.
func FindOffset(ctx context.Context, db DB, name Name, offset int64) (Answer, error) {
	status, err := StreamOf(ctx, db, name)
	if err != nil {
		return Answer{}, err
	}
	row, err := covering(ctx, db, &status, offset)
	if err != nil {
		return Answer{}, err
	}
	letters, err := LettersAt(ctx, db, &status, offset)
	if err != nil {
		return Answer{}, err
	}
	var letter *Letter
	if len(letters) > 0 {
		letter = &letters[0]
	}
	a := Answer{Row: row, Letter: letter}
	switch {
	case letter != nil && (row == nil || letter.Seq >= row.Seq):
		a.Verdict, a.Key = verdictOf[letter.State], letter.Key
		a.Because = fmt.Sprintf("ledger row %d passed it at %s: %s", letter.Seq, letter.CreatedAt.Format(time.RFC3339), letter.Class)
		if e := letter.End; e != nil && e.Seq != nil {
			a.Because += fmt.Sprintf("; ledger row %d ended that", *e.Seq)
		}
	case row != nil:
		a.Letter = nil
		a.Verdict, a.Because = row.verdict()
	default:
		a.Verdict, a.Because, err = uncovered(ctx, db, &status, offset)
	}
	if t := status.Tail; row != nil && t != nil && offset >= t.Position {
		a.Because += fmt.Sprintf("; the position was moved back to %d since, so that it is read again", t.Position)
	}
	return a, err
}

// verdict is what a row says of an offset that it covers and that is no dead letter.
func (r *Row) verdict() (Verdict, string) {
	text := fmt.Sprintf("ledger row %d covers %s, at %s, in transaction %s", r.Seq, r.Span(), r.WrittenAt.Format(time.RFC3339), r.Transaction)
	switch {
	case r.Kind == "skip":
		return Skipped, text + ": " + r.Info
	case r.To-r.From == 1 && r.Keys > 0:
		return Applied, text + ", and holds its key"
	}
	return Covered, text + "; give --key too, to tell which, unless the spec ignores the record, or the log has none there"
}

// uncovered is the verdict on an offset that no row covers.
func uncovered(ctx context.Context, db DB, of *Status, offset int64) (Verdict, string, error) {
	t := of.Tail
	if t == nil {
		return Outside, "the rows of the ledger are gone", nil
	}
	if offset >= t.Position {
		return NotSeen, fmt.Sprintf("the position is %d: it is applied when it is there and its turn comes", t.Position), nil
	}
	first, err := firstRow(ctx, db, of)
	if err != nil || first == nil {
		return Outside, "the rows of the ledger are gone", err
	}
	if first.Kind == "genesis" && offset < first.To {
		return Outside, fmt.Sprintf("the ledger began after it, at offset %d: it never took effect here", first.To), nil
	}
	return Outside, fmt.Sprintf("it was passed, by a row that was removed since: the ledger goes back to row %d, of %s", first.Seq, first.WrittenAt.Format(time.RFC3339)), nil
}

const (
	// movesBackSQL are where the position of a ledger was moved back, the last one first.
	movesBackSQL = `
SELECT seq FROM idem_ledger WHERE stream = $1::int AND kind <> 'b' AND kind = 'r' ORDER BY seq DESC`

	boundsSQL = `SELECT coalesce(min(seq), 0), coalesce(max(seq), -1) FROM idem_ledger WHERE stream = $1::int`

	// rowFromSQL is the first row of a ledger from a place on.
	rowFromSQL = `SELECT seq, prev, next FROM idem_ledger WHERE stream = $1::int AND seq >= $2::bigint ORDER BY seq LIMIT 1`
)

// covering finds the last row that covers an offset; nil if there is none. The positions
// of a ledger only grow between two moves back: the row is found by halves, not by reading all.
func covering(ctx context.Context, db DB, of *Status, offset int64) (*Row, error) {
	var lo, hi int64
	if err := db.QueryRow(ctx, boundsSQL, pgx.QueryExecModeExec, of.Stream).Scan(&lo, &hi); err != nil {
		return nil, Explain(err)
	}
	rows, _ := db.Query(ctx, movesBackSQL, pgx.QueryExecModeExec, of.Stream)
	begins, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, Explain(err)
	}
	for _, begin := range append(begins, lo-1) {
		seq, err := between(ctx, db, of.Stream, begin+1, hi, offset)
		if err != nil {
			return nil, err
		}
		if seq >= 0 {
			found, err := readRows(ctx, db, rowSQL, of.Stream, seq)
			if err != nil || len(found) == 0 {
				return nil, err
			}
			return &found[0], nil
		}
		hi = begin - 1
	}
	return nil, nil
}

// between finds the row that covers an offset among the rows lo to hi, whose positions only grow;
// -1 if there is none.
func between(ctx context.Context, db DB, id int32, lo, hi, offset int64) (int64, error) {
	for lo <= hi {
		middle := lo + (hi-lo)/2
		var seq, prev, next int64
		err := db.QueryRow(ctx, rowFromSQL, pgx.QueryExecModeExec, id, middle).Scan(&seq, &prev, &next)
		switch {
		case errors.Is(err, pgx.ErrNoRows) || err == nil && seq > hi:
			hi = middle - 1
		case err != nil:
			return -1, Explain(err)
		case prev <= offset && offset < next:
			return seq, nil
		case next <= offset:
			lo = seq + 1
		default:
			hi = middle - 1
		}
	}
	return -1, nil
}
