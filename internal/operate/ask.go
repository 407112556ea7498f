package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// askSQL stores a request of a time, or of now, unless there already is one. A replay has a
// number, which shows that it was requested after the outcome of the effect's last call. With a
// condition on the state alone Postgres may use an index of the open letters, and read all of
// them for each letter.
const askSQL = `
UPDATE idem_dead_letter d SET asked = $4::text::"char", asked_at = coalesce($7::timestamptz, clock_timestamp()), asked_by = $5, answer = NULL, answered_at = NULL,
    asked_number = CASE WHEN $4::text = 'r' THEN nextval('idem_fence') END, asked_result = $6::bytea,
    asked_with_result = $6::bytea IS NOT NULL
FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS a (stream, offs, seq)
WHERE d.stream = a.stream AND d.offs = a.offs AND d.seq = a.seq AND CASE WHEN d.state = 'd' THEN d.asked IS NULL END`

// closeSQL discards letters of a topic that was made again, which no process owns, with those that
// wait behind them.
const closeSQL = `
WITH meant AS (
    SELECT d.stream, d.offs, d.seq, d.order_key FROM idem_dead_letter d JOIN unnest($1::int[], $2::bigint[], $3::bigint[]) AS a (stream, offs, seq) USING (stream, offs, seq)
), those AS (
    SELECT stream, offs, seq FROM meant
    UNION SELECT w.stream, w.offs, w.seq FROM meant m JOIN idem_dead_letter w ON w.stream = m.stream AND w.order_key = m.order_key AND w.state = 'w'
)
UPDATE idem_dead_letter d SET state = 'x', resolved_at = clock_timestamp(), resolved_by = $4, asked = NULL, asked_number = NULL, asked_result = NULL,
    asked_at = coalesce($5::timestamptz, clock_timestamp()), asked_by = $4
FROM those t WHERE d.stream = t.stream AND d.offs = t.offs AND d.seq = t.seq AND d.state IN ('d', 'w')`

// CallsAgain reports whether a replay calls an effect again although its first call may have
// succeeded.
func (l *Letter) CallsAgain() bool {
	answered := l.Request != nil && strings.HasPrefix(l.Request.Answer, wire.ReasonInterrupted+":")
	return l.Class == wire.ReasonInterrupted && !l.Called || answered
}

// mostResult limits the length of a result in bytes.
const mostResult = 1 << 20

// Ask requests the owner of each letter's partition to replay or to discard it, and returns the
// letters after that. The owner does so between two batches, within seconds; if the partition has
// no owner, the next one does. A letter has one request at a time, and the outcome is stored in
// its row. If a request is not possible for one of the letters, none is made.
//
// For a replay, an effect whose call failed or was interrupted is called again, unless result
// states its result, as JSON: null if it has none. The owner rejects a result of the wrong type.
func Ask(ctx context.Context, db DB, letters []Letter, verb string, result []byte, by By) ([]Letter, error) {
	asked := requestOf[verb]
	if asked == "" {
		return letters, fmt.Errorf("a letter can be replayed or discarded, not %q", verb)
	}
	if result != nil {
		var compact bytes.Buffer
		if err := json.Compact(&compact, result); err != nil {
			return letters, fmt.Errorf("the result is not JSON: %w", err)
		}
		if result = compact.Bytes(); len(result) > mostResult {
			return letters, fmt.Errorf("the result has %d bytes, more than %d", len(result), mostResult)
		}
	}
	for i := range letters {
		if err := letters[i].may(verb); err != nil {
			return letters, err
		}
	}
	who, err := by.text(ctx, db)
	if err != nil {
		return letters, err
	}
	if by.DryRun {
		return pretend(letters, Request{For: verb, By: who, Result: result != nil}), nil
	}
	var open, former []Letter
	for _, l := range letters {
		if l.Former {
			former = append(former, l)
		} else {
			open = append(open, l)
		}
	}
	now, did, err := rewrite(ctx, db, open, askSQL, asked, who, result, nil)
	if err == nil && did == 0 && len(now) == 1 {
		err = now[0].may(verb)
	}
	if err != nil || len(former) == 0 {
		return now, err
	}
	closed, _, err := rewrite(ctx, db, former, closeSQL, who, nil)
	return append(now, closed...), err
}

// pretend returns letters as a dry run shows them.
func pretend(letters []Letter, r Request) []Letter {
	letters = slices.Clone(letters)
	for i := range letters {
		letters[i].Request = &r
	}
	return letters
}

const takeBackSQL = `
UPDATE idem_dead_letter d SET asked = NULL, asked_number = NULL, asked_result = NULL, answer = $4, answered_at = clock_timestamp()
FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS a (stream, offs, seq)
WHERE d.stream = a.stream AND d.offs = a.offs AND d.seq = a.seq AND CASE WHEN d.state = 'd' THEN d.asked IS NOT NULL END`

// TakeBack withdraws pending requests. If the call of an effect has begun for a request, it is not
// canceled, and its result is recorded.
func TakeBack(ctx context.Context, db DB, letters []Letter, by By) ([]Letter, error) {
	who, err := by.text(ctx, db)
	for i := range letters {
		switch l := &letters[i]; {
		case err != nil:
		case !l.Open():
			err = fmt.Errorf("%s was %s by %s", l.Name(), l.State, l.End.By)
		case l.Asked() == "":
			err = fmt.Errorf("%s: there is no pending request", l.Name())
		}
	}
	if err != nil || by.DryRun {
		return letters, err
	}
	now, _, err := rewrite(ctx, db, letters, takeBackSQL, "withdrawn by "+who)
	return now, err
}

// portion is how many letters are changed or read at a time.
const portion = 500

// rewrite changes the rows of letters with a statement, in portions, and reads them again. did is
// the number of changed rows.
func rewrite(ctx context.Context, db DB, letters []Letter, sql string, args ...any) (now []Letter, did int64, err error) {
	for some := range slices.Chunk(letters, portion) {
		n, err := alter(ctx, db, sql, append(places(some), args...)...)
		if err != nil {
			return now, did, err
		}
		did += n
		are, err := Refresh(ctx, db, some)
		if now = append(now, are...); err != nil {
			return now, did, err
		}
	}
	return now, did, nil
}

// places returns letters as parameters.
func places(letters []Letter) []any {
	var streams []int32
	var offsets, seqs []int64
	for _, l := range letters {
		streams, offsets, seqs = append(streams, l.stream), append(offsets, l.Offset), append(seqs, l.Seq)
	}
	return []any{streams, offsets, seqs}
}

// may returns why a request is not possible for a letter; nil if it is.
func (l *Letter) may(verb string) error {
	switch {
	case l.Former && verb == "replay":
		return fmt.Errorf("%s: its topic was recreated, and records of the former one are no longer applied: it can only be discarded", l.Name())
	case l.State == "waiting" && !l.Former:
		return fmt.Errorf("%s waits behind a dead letter of its record key: replay or discard that one (%s)", l.Name(), l.Text())
	case !l.Open():
		return fmt.Errorf("%s was %s by %s", l.Name(), l.State, l.End.By)
	case l.Asked() != "":
		return fmt.Errorf("%s: a %s is already requested, since %s by %s (idemgen dead replay --take-back)", l.Name(), l.Asked(), l.Request.At.Format(time.RFC3339), l.Request.By)
	case verb == "replay" && l.ErasedBy != "":
		return fmt.Errorf("%s: its record was erased by %s: it can only be discarded", l.Name(), l.ErasedBy)
	case verb == "replay" && !l.Kept:
		return fmt.Errorf("%s: its record is not kept (on_failure.dead_letter_payload, or it is longer than 16 MiB): it can only be discarded", l.Name())
	}
	return nil
}

const (
	// ofKeySQL selects the letters of a record key, in the order of the log.
	ofKeySQL = letterSQL + `
WHERE s.consumer = $1::text AND s.topic = $2::text AND d.order_key = $3::uuid AND d.erased_by IS NULL
ORDER BY s.stream, d.offs, d.seq`

	// eraseSQL erases the content of letters, and requests that dead ones are discarded. The owner
	// discards a parked one when its turn comes.
	eraseSQL = `
UPDATE idem_dead_letter d SET
    record = NULL, result = NULL, response = NULL, asked_result = NULL, erased_by = $4,
    reason = coalesce(substring(d.reason FROM '^([a-z_ -]+): '), 'decode') || ': erased by ' || $4,
    answer = CASE WHEN d.answer IS NOT NULL THEN 'erased by ' || $4 END,
    asked = CASE WHEN d.state = 'd' THEN 'x'::"char" ELSE d.asked END, asked_with_result = d.asked_with_result AND d.state <> 'd',
    asked_at = CASE WHEN d.state = 'd' THEN clock_timestamp() ELSE d.asked_at END,
    asked_by = CASE WHEN d.state = 'd' THEN $4 ELSE d.asked_by END
FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS a (stream, offs, seq)
WHERE d.stream = a.stream AND d.offs = a.offs AND d.seq = a.seq AND d.erased_by IS NULL`
)

// Erase erases the record, the reason and the result in all dead letters of a record key, even in
// closed ones. Open letters are discarded. It returns the letters after that.
func Erase(ctx context.Context, db DB, consumer, topic, key string, by By) ([]Letter, error) {
	if _, err := named(ctx, db, Name{Consumer: consumer, Topic: topic, Partition: Any}); err != nil {
		return nil, err
	}
	hash, err := orderKey(key)
	if err != nil {
		return nil, err
	}
	found, err := letters(ctx, db, ofKeySQL, consumer, topic, hash)
	if err != nil {
		return nil, err
	}
	who, err := by.text(ctx, db)
	if err != nil {
		return nil, err
	}
	if by.DryRun {
		return pretend(found, Request{For: "discard", By: who}), nil
	}
	now, _, err := rewrite(ctx, db, found, eraseSQL, who)
	if err != nil {
		return now, fmt.Errorf("erase: %w", err)
	}
	return now, nil
}

// answerPause is the interval between two checks for outcomes.
const answerPause = 200 * time.Millisecond

// Await waits until each request has an outcome, and returns the letters after that. It is an
// error if a request has no outcome in time, or if a letter stays dead.
func Await(ctx context.Context, db DB, letters []Letter, most time.Duration) ([]Letter, error) {
	for end := time.Now().Add(most); ; time.Sleep(answerPause) {
		now, err := Refresh(ctx, db, letters)
		if err != nil {
			return letters, err
		}
		open, dead := 0, 0
		for i := range now {
			switch {
			case now[i].Asked() != "":
				open++
			case now[i].State == "dead":
				dead++
			}
		}
		switch {
		case open == 0 && dead > 0:
			return now, fmt.Errorf("%d of %d letters stay dead", dead, len(now))
		case open == 0:
			return now, nil
		case ctx.Err() != nil || time.Now().After(end):
			return now, fmt.Errorf("no outcome for %d of %d letters within %v: the request stays pending", open, len(now), most)
		}
	}
}

// Idle returns the streams of letters with pending requests that no process may carry out now, by
// what processes report.
func Idle(ctx context.Context, db DB, letters []Letter) (idle []Status, err error) {
	if len(letters) == 0 {
		return nil, nil
	}
	all, err := Present(ctx, db, letters[0].Consumer, letters[0].Topic)
	for _, s := range all {
		unanswered := func(l Letter) bool { return l.Asked() != "" && l.Partition == s.Partition }
		if s.Tail != nil && Ownerless(s.Reported) != "" && slices.ContainsFunc(letters, unanswered) {
			idle = append(idle, s)
		}
	}
	return idle, err
}

// Age returns a duration in words.
func Age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= 48*time.Hour {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return d.Round(time.Second).String()
}
