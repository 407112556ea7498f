package operate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
)

// Verdict is the outcome of a record, as far as the database knows.
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

// Answer is the outcome of a record: a verdict and the reason for it.
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

// FindOffset returns the outcome of the record at an offset. If it has several, because a position
// was moved back, the last one counts.
func FindOffset(ctx context.Context, db DB, name Name, offset int64) (Answer, error) {
	status, err := StreamOf(ctx, db, name)
	if err != nil {
		return Answer{}, err
	}
	row, err := readRow(ctx, db, coveringSQL, status.Stream, offset)
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
		a.Because += fmt.Sprintf("; the position has since been moved back to %d, so it is read again", t.Position)
	}
	return a, err
}

// verdict returns the verdict of a row on an offset that it covers and that is not a dead letter.
func (r *Row) verdict() (Verdict, string) {
	text := fmt.Sprintf("ledger row %d covers %s, at %s, in transaction %s", r.Seq, r.Span(), r.WrittenAt.Format(time.RFC3339), r.Transaction)
	switch {
	case r.Kind == "skip":
		return Skipped, text + ": " + r.Info
	case r.To-r.From == 1 && r.Keys > 0:
		return Applied, text + ", and holds its key"
	}
	return Covered, text + "; to find out which, also give --key, unless the spec ignores the record or the log has none there"
}

// uncovered returns the verdict on an offset that no row covers.
func uncovered(ctx context.Context, db DB, of *Status, offset int64) (Verdict, string, error) {
	t := of.Tail
	if t == nil {
		return Outside, "the rows of the ledger are gone", nil
	}
	if offset >= t.Position {
		return NotSeen, fmt.Sprintf("the position is %d: it will be applied when it is in the log and the position reaches it", t.Position), nil
	}
	first, err := readRow(ctx, db, firstRowSQL, of.Stream)
	if err != nil || first == nil {
		return Outside, "the rows of the ledger are gone", err
	}
	if first.Kind == "genesis" && offset < first.To {
		return Outside, fmt.Sprintf("the ledger began after it, at offset %d: it never took effect here", first.To), nil
	}
	return Outside, fmt.Sprintf("it was passed by a row that has since been removed: the oldest row of the ledger is row %d, of %s", first.Seq, first.WrittenAt.Format(time.RFC3339)), nil
}

// Row is a row of a ledger.
type Row struct {
	Name
	RowHead
	From        int64  `json:"from"`        // the position before: the first offset that a batch covers
	To          int64  `json:"to"`          // the position after: the first offset that it does not cover
	Keys        int64  `json:"keys"`        // in the row itself, of copies: same_partition
	Letters     int64  `json:"letters"`     // dead letters and waiting records that its transaction wrote
	Transaction string `json:"transaction"` // Postgres' number of the transaction (xmin)
	Letter      *int64 `json:"letter"`      // of kind letter: the dead letter's offset, in the row's topic and partition
}

// rowColumns are scanned by scanRow.
const rowColumns = `s.consumer, s.topic, s.topic_id::text, s.partition, l.seq, l.kind, l.prev, l.next, l.written_at,
       coalesce(octet_length(l.keys), 0) / 20,
       (SELECT count(*) FROM idem_dead_letter d WHERE d.stream = l.stream AND d.offs >= l.prev AND d.offs < l.next AND d.seq = l.seq),
       l.xmin::text, coalesce(l.info, ''), coalesce(l.letters, 0), l.letters_from`

const (
	rowSQL = `SELECT ` + rowColumns + `
FROM idem_ledger l JOIN idem_stream s USING (stream)
WHERE l.stream = $1::int AND l.seq = $2::bigint`

	// coveringSQL selects the last row that covers an offset. It reads the ledger from its end
	// back to that row, and reads nothing if the position never was beyond the offset.
	coveringSQL = `SELECT ` + rowColumns + `
FROM idem_ledger l JOIN idem_stream s USING (stream)
WHERE l.stream = $1::int AND l.prev <= $2::bigint AND l.next > $2::bigint AND (
    (SELECT next > $2::bigint FROM idem_ledger WHERE stream = $1::int ORDER BY seq DESC LIMIT 1)
    OR EXISTS (SELECT FROM idem_ledger WHERE stream = $1::int AND kind <> 'b' AND kind = 'r'))
ORDER BY l.seq DESC LIMIT 1`

	// firstRowSQL selects the oldest row.
	firstRowSQL = `SELECT ` + rowColumns + `
FROM idem_ledger l JOIN idem_stream s USING (stream)
WHERE l.stream = $1::int ORDER BY l.seq LIMIT 1`
)

// Span describes the offsets that the row covers.
func (r *Row) Span() string {
	if r.Letter != nil {
		verb, _, _ := strings.Cut(r.Info, " ")
		return fmt.Sprintf("offset %d, a dead letter that was %s", *r.Letter, verb)
	}
	switch r.To - r.From {
	case 0:
		return "no offset"
	case 1:
		return fmt.Sprintf("offset %d", r.From)
	}
	return fmt.Sprintf("offsets %d to %d", r.From, r.To-1)
}

// readRow reads a row with a query of rowColumns; nil if there is none.
func readRow(ctx context.Context, db DB, sql string, args ...any) (*Row, error) {
	var r Row
	var kind byte
	var letters ledger.InRow
	var from *int64
	found, err := one(ctx, db, []any{&r.Consumer, &r.Topic, &r.TopicID, &r.Partition, &r.Seq, &kind, &r.From, &r.To, &r.WrittenAt,
		&r.Keys, &r.Letters, &r.Transaction, &r.Info, &letters.N, &from}, sql, args...)
	if err != nil || !found {
		return nil, err
	}
	r.Kind, r.WrittenAt = kinds[kind], r.WrittenAt.UTC()
	switch {
	case kind == ledger.Letter:
		r.Letter = from
	case from != nil:
		letters.First = *from
		r.Info = ledger.Said(r.Info, letters)
	}
	return &r, nil
}
