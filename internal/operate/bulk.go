package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Left counts the letters of a selection that a replay leaves out.
type Left struct {
	Calls  int64 `json:"calls"`  // a call would be repeated that may have succeeded
	Gone   int64 `json:"gone"`   // the record is not kept, so it can only be discarded
	Former int64 `json:"former"` // the topic was made again, so it can only be discarded
}

// TakeBackVerb selects the letters whose pending requests can be withdrawn.
const TakeBackVerb = "take back"

// applies reports whether a request applies to a letter that was found, and counts those that a
// replay leaves out. Of interrupted calls, only a selection of their class replays letters.
func (s *Selection) applies(verb string, f *found, out *Left) bool {
	switch {
	case !f.is || f.waits || f.asked != (verb == TakeBackVerb):
		return false
	case verb != "replay":
		return true
	case f.former:
		out.Former++
	case f.calls && s.Class != wire.ReasonInterrupted:
		out.Calls++
	case f.gone:
		out.Gone++
	default:
		return true
	}
	return false
}

// Count says how many letters of a selection there are, by what a request does with them.
type Count struct {
	Meant  int // the request applies to them
	Again  int // of Meant: a replay repeats a call that may have succeeded
	Former int // of Meant: their topic was made again, so what is parked behind them is discarded, too
	Left   Left
	Asked  int   // dead, with a pending request
	Behind int   // records that are parked behind letters of Meant
	Older  *Mark // letters before it were not counted; nil if all were
}

// CountOf counts the newest 5,000 letters of a selection for a request, replay or discard.
func CountOf(ctx context.Context, db DB, s Selection, verb string) (c Count, err error) {
	all, bound, err := s.find(ctx, db, Mark{})
	if err != nil {
		return c, err
	}
	c.Older = bound
	keys := map[parked]bool{}
	for i := range all {
		switch f := &all[i]; {
		case s.applies(verb, f, &c.Left):
			keys[parked{f.Stream, f.key}] = f.key != [16]byte{}
			c.Meant++
			if f.calls && verb == "replay" {
				c.Again++
			}
			if f.former {
				c.Former++
			}
		case f.is && f.asked && !f.waits:
			c.Asked++
		}
	}
	for i := range all {
		if f := &all[i]; f.waits && keys[parked{f.Stream, f.key}] {
			c.Behind++
		}
	}
	return c, nil
}

// Meant returns the letters of a topic to which a request applies, by partition and offset: replay
// and discard apply to those without a request, "take back" to those with one. It is an error if
// the event never had a letter.
func Meant(ctx context.Context, db DB, s Selection, verb string) (meant []Letter, out Left, err error) {
	if _, err := named(ctx, db, Name{Consumer: s.Consumer, Topic: s.Topic, Partition: Any}); err != nil {
		return nil, out, err
	}
	matched := false
	err = s.each(ctx, db, func(part []found) error {
		var of []Letter
		for i := range part {
			matched = matched || part[i].is
			if s.applies(verb, &part[i], &out) {
				of = append(of, part[i].letter())
			}
		}
		are, err := letters(ctx, db, theseSQL, places(of)...)
		meant = append(meant, are...)
		return err
	})
	if err == nil && !matched && s.Event != "" {
		ever, errEver := Letters(ctx, db, Selection{Consumer: s.Consumer, Topic: s.Topic, Event: s.Event, Closed: true}, 1)
		if err = errEver; err == nil && len(ever.Letters) == 0 {
			err = fmt.Errorf("%s never had a dead letter of event %s: idemgen dead list shows the events by name", s.Topic, s.Event)
		}
	}
	slices.SortFunc(meant, func(a, b Letter) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.stream, b.stream), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Seq, b.Seq))
	})
	return meant, out, err
}

// Asked says what a request about a selection did.
type Asked struct {
	At    time.Time // of the request, and of each letter's: it identifies them
	Count int64     // letters that now have the request
	Left  Left
}

const nowSQL = `SELECT clock_timestamp()`

// Bulk is a request about all letters of a selection.
type Bulk struct {
	Asked
	selection Selection
	verb, by  string
	db        DB
}

// AskAll prepares a request to the owners to replay or discard all dead letters of a selection
// that have no request. It needs Through, so letters that the operator did not see are left alone,
// and a topic or a consumer.
func AskAll(ctx context.Context, db DB, s Selection, verb string, by By) (*Bulk, error) {
	b := &Bulk{selection: s, verb: verb, db: db}
	switch {
	case requestOf[verb] == "":
		return nil, fmt.Errorf("letters can be replayed or discarded, not %q", verb)
	case s.Through == (Mark{}):
		return nil, errors.New("a request about a selection needs the newest letter that it includes")
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

// Run makes the request. Letters are changed some thousand at a time: after an error, At
// identifies those that have the request already.
func (b *Bulk) Run(ctx context.Context) error {
	return b.selection.each(ctx, b.db, func(part []found) error {
		var open, former []Letter
		for i := range part {
			switch f := &part[i]; {
			case !b.selection.applies(b.verb, f, &b.Left):
			case f.former:
				former = append(former, f.letter())
			default:
				open = append(open, f.letter())
			}
		}
		return errors.Join(
			b.store(ctx, open, askSQL, requestOf[b.verb], b.by, nil, b.At),
			b.store(ctx, former, closeSQL, b.by, b.At))
	})
}

func (b *Bulk) store(ctx context.Context, of []Letter, sql string, args ...any) error {
	if len(of) == 0 {
		return nil
	}
	n, err := alter(ctx, b.db, sql, append(places(of), args...)...)
	b.Count += n
	return err
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
    count(*) FILTER (WHERE state = 'd' AND asked IS NULL AND NOT starts_with(coalesce(answer, ''), 'withdrawn by ')),
    count(*) FILTER (WHERE state = 'd' AND asked IS NULL AND starts_with(answer, 'withdrawn by ')),
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
		n, err = alter(ctx, db, withdrawSomeSQL, at, "withdrawn by "+who)
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
