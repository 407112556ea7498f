package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Asked says what a request about a selection did.
type Asked struct {
	At    time.Time `json:"at"`    // of the request, and of each letter's: it identifies them
	Count int64     `json:"asked"` // letters that now have the request
	Calls int64     `json:"calls"` // left out: a replay would repeat a call that may have succeeded
	Gone  int64     `json:"gone"`  // left out: the record is not kept
	// Former are left out of a replay: their topic was made again.
	Former int64 `json:"former"`
}

const (
	nowSQL = `SELECT clock_timestamp()`

	selectedStreamsSQL = `SELECT stream FROM idem_stream WHERE ($1::text = '' OR consumer = $1::text) AND ($2::text = '' OR topic = $2::text) ORDER BY 1`

	// partSQL selects the next letters of one stream, in the order in which they came.
	partSQL = `
SELECT d.created_at, d.offs, d.seq, d.reason, coalesce(d.event, ''), d.record IS NULL, ` + callsAgainSQL + `,
    coalesce(d.state = 'd' AND d.asked IS NULL AND ` + selectedSQL + `, false)
FROM (SELECT *, result IS NOT NULL AS called FROM idem_dead_letter
    WHERE stream = $1::int AND state IN ('d', 'w') AND created_at BETWEEN $2::timestamptz AND $5::timestamptz
      AND (created_at, offs, seq) > ($2::timestamptz, $3::bigint, $4::bigint)
      AND (created_at, stream, offs, seq) <= ($5::timestamptz, $6::int, $11::bigint, $12::bigint)
    ORDER BY created_at, offs, seq LIMIT 2000) d
ORDER BY d.created_at, d.offs, d.seq`
)

// Bulk is a request about all letters of a selection.
type Bulk struct {
	Asked
	selection Selection
	asked     string // r to replay, x to discard
	by        string
	db        DB
}

// AskAll prepares a request to the owners to replay or discard all dead letters of a selection
// that have no request. It needs Through, so letters that the operator did not see are left alone,
// and a topic or a consumer. Of interrupted calls, only a selection of their class replays
// letters.
func AskAll(ctx context.Context, db DB, s Selection, verb string, by By) (*Bulk, error) {
	b := &Bulk{selection: s, asked: map[string]string{"replay": "r", "discard": "x"}[verb], db: db}
	switch {
	case b.asked == "":
		return nil, fmt.Errorf("letters are replayed or discarded, not %q", verb)
	case s.Through == (Mark{}):
		return nil, errors.New("a request about a selection needs the newest letter that it is about")
	case s.Topic == "" && s.Consumer == "":
		return nil, errors.New("a request about a selection needs a topic or a consumer")
	}
	var err error
	if b.by, err = by.text(ctx, db); err != nil {
		return nil, err
	}
	_, err = one(ctx, db, []any{&b.At}, nowSQL)
	return b, err
}

// Run makes the request. Letters are changed 2,000 at a time: after an error, At identifies those
// that have the request already.
func (b *Bulk) Run(ctx context.Context) error {
	former, err := formerStreams(ctx, b.db)
	if err != nil {
		return err
	}
	streams, err := query(ctx, b.db, pgx.RowTo[int32], selectedStreamsSQL, b.selection.Consumer, b.selection.Topic)
	for _, stream := range streams {
		if err == nil {
			err = b.stream(ctx, stream, former[stream])
		}
	}
	return err
}

// stream stores the request in the letters of one stream. Those that were parked, or have a
// request, are no part of it.
func (b *Bulk) stream(ctx context.Context, stream int32, former bool) error {
	s, from, replays := &b.selection, Mark{}, b.asked == "r"
	for {
		args := append([]any{stream, from.At, from.Offset, from.Seq, s.Through.At, s.Through.Stream}, s.args(Mark{})[6:]...)
		part, err := query(ctx, b.db, func(row pgx.CollectableRow) (f found, err error) {
			f.Stream = stream
			err = row.Scan(&f.At, &f.Offset, &f.Seq, &f.reason, &f.event, &f.gone, &f.calls, &f.is)
			f.is = f.is && s.has(f.reason, f.event)
			return f, err
		}, partSQL, append(args, s.Through.Offset, s.Through.Seq)...)
		if err != nil || len(part) == 0 {
			return err
		}
		from = part[len(part)-1].Mark
		var meant []Letter
		for _, f := range part {
			switch {
			case !f.is:
			case replays && former:
				b.Former++
			case replays && f.calls && s.Class != wire.ReasonInterrupted:
				b.Calls++
			case replays && f.gone:
				b.Gone++
			default:
				meant = append(meant, Letter{Place: Place{Offset: f.Offset}, Seq: f.Seq, stream: stream})
			}
		}
		if len(meant) == 0 {
			continue
		}
		sql, of := askSQL, append(places(meant), b.asked, b.by, nil, b.At)
		if former {
			sql, of = closeSQL, append(places(meant), b.by, b.At)
		}
		n, err := alter(ctx, b.db, sql, of...)
		if b.Count += n; err != nil {
			return err
		}
	}
}

// Progress is what became of the letters of one request. Each number is at most 10,001.
type Progress struct {
	By       string // who, and why
	Pending  int    // the owner has not done it yet
	Done     int    // replayed or discarded, as was requested
	Refused  int    // stay dead: their records were rejected again
	Withdraw int    // the request was withdrawn
	Newer    int    // letters of the same streams that came since
	Verb     string // replay or discard
	Errors   []Sum  // why they stay dead, of the newest 1,000: Class is the answer
}

// progressSQL counts the letters of a request. They are found by its time, which all of them have.
const progressSQL = `
WITH r AS MATERIALIZED (
    SELECT d.stream, d.state, d.asked, d.answer, d.asked_by
    FROM idem_dead_letter d WHERE d.asked_at = $1::timestamptz LIMIT 10001
)
SELECT coalesce((SELECT asked_by FROM r LIMIT 1), ''), CASE WHEN bool_or(coalesce(asked, state) = 'x') THEN 'discard' ELSE 'replay' END,
    count(*) FILTER (WHERE asked IS NOT NULL), count(*) FILTER (WHERE state IN ('r', 'x')),
    count(*) FILTER (WHERE state = 'd' AND asked IS NULL AND NOT starts_with(coalesce(answer, ''), 'taken back')),
    count(*) FILTER (WHERE state = 'd' AND asked IS NULL AND starts_with(answer, 'taken back')),
    (SELECT count(*) FROM (SELECT FROM (SELECT DISTINCT stream FROM r) s, LATERAL (SELECT FROM idem_dead_letter d
        WHERE d.stream = s.stream AND d.state IN ('d', 'w') AND d.created_at > $1::timestamptz LIMIT 10001) l LIMIT 10001) n)
FROM r`

const answersSQL = `
SELECT substring(answer FROM 1 FOR 300), count(*) FROM (SELECT answer FROM idem_dead_letter WHERE asked_at = $1::timestamptz AND state = 'd' AND asked IS NULL AND answer IS NOT NULL LIMIT 1000) r
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`

// ProgressOf returns what became of the letters of a request, by the time of the request.
func ProgressOf(ctx context.Context, db DB, at time.Time) (p Progress, err error) {
	_, err = one(ctx, db, []any{&p.By, &p.Verb, &p.Pending, &p.Done, &p.Refused, &p.Withdraw, &p.Newer}, progressSQL, at)
	if err == nil {
		p.Errors, err = query(ctx, db, pgx.RowToStructByPos[Sum], answersSQL, at)
	}
	return p, err
}

// withdrawSomeSQL withdraws a request in some of its letters.
const withdrawSomeSQL = `
UPDATE idem_dead_letter d SET asked = NULL, asked_number = NULL, asked_result = NULL, answer = $2::text, answered_at = clock_timestamp()
FROM (SELECT stream, offs, seq FROM idem_dead_letter WHERE asked_at = $1::timestamptz AND asked IS NOT NULL AND state = 'd' LIMIT 2000) a
WHERE d.stream = a.stream AND d.offs = a.offs AND d.seq = a.seq AND d.asked_at = $1::timestamptz AND CASE WHEN d.state = 'd' THEN d.asked IS NOT NULL END`

// WithdrawAll withdraws what is pending of a request, by the time of the request. The call of an
// effect that has begun is not canceled, and its result is recorded.
func WithdrawAll(ctx context.Context, db DB, at time.Time, by By) error {
	who, err := by.text(ctx, db)
	for n := int64(1); n > 0 && err == nil; {
		n, err = alter(ctx, db, withdrawSomeSQL, at, "taken back by "+who)
	}
	return err
}

// alter runs a statement that changes rows, and returns how many it changed.
func alter(ctx context.Context, db DB, sql string, args ...any) (n int64, err error) {
	tx, err := db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return 0, Explain(err)
	}
	tag, err := tx.Exec(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	if err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx))
		return 0, Explain(err)
	}
	return tag.RowsAffected(), nil
}
