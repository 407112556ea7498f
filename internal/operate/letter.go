package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Place identifies a record of a consumer. TopicID "" means the present topic.
type Place struct {
	Consumer  string `json:"consumer"`
	Topic     string `json:"topic"`
	TopicID   string `json:"topic_id"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// Cause is why a record became a letter.
type Cause struct {
	Class    string `json:"class"`    // the reason's first word: decode, conflict, handler, ...
	Event    string `json:"event"`    // "" if it is not known
	Reason   string `json:"reason"`   // what failed, where; without class and event
	SQLState string `json:"sqlstate"` // "" if no error of the database is the reason
	Key      string `json:"key"`      // of a conflict, or of an effect: 32 hex digits, as Delivery.Key; else ""
}

// Text returns the whole reason.
func (c *Cause) Text() string {
	parts := slices.DeleteFunc([]string{c.Class, c.Event, c.Reason}, func(part string) bool { return part == "" })
	return strings.Join(parts, ": ")
}

// Letter is a dead letter, or a record that is parked behind one, without the record itself.
type Letter struct {
	Place
	Cause
	Seq       int64      `json:"seq"` // of the ledger's row that passed the record
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"` // when an open one is closed; nil is never
	State     string     `json:"state"`      // dead, waiting, replayed or discarded
	Version   string     `json:"version"`    // of the program that rejected the record first; "" if it has none
	Kept      bool       `json:"kept"`       // the record is there
	Called    bool       `json:"called"`     // the call of its effect was made, and what it returned recorded
	ErasedBy  string     `json:"erased_by"`  // who erased record and reason, and why; "" if nobody did
	Request   *Request   `json:"request"`    // the last one of an operator; nil is none
	End       *End       `json:"end"`        // nil while it is open
	Parks     bool       `json:"parks"`      // later records of its record key wait behind it while it is open
	Behind    *int64     `json:"behind"`     // of a waiting one: the offset of the dead letter before it
	Former    bool       `json:"former"`     // the topic was made again: nothing of the former one is applied any more

	stream int32
}

// Request is an operator's request to the partition's owner.
type Request struct {
	For        string     `json:"for"` // replay or discard; "" once it is answered
	By         string     `json:"by"`  // who, and why
	At         time.Time  `json:"at"`
	Result     bool       `json:"with_result"` // the operator said what the effect returned; it stays when that is answered
	Answer     string     `json:"answer"`      // to the last request; "" is none
	AnsweredAt *time.Time `json:"answered_at"`
}

// End is how a letter was closed.
type End struct {
	At  *time.Time `json:"at"`
	Seq *int64     `json:"seq"` // of the ledger's row that did it; nil if the upkeep closed it
	By  string     `json:"by"`  // who, and why
}

// Name returns the name of the letter in messages.
func (l *Letter) Name() string {
	return fmt.Sprintf("%s/%d offset %d of %s", l.Topic, l.Partition, l.Offset, l.Consumer)
}

// Open reports whether the letter is still open.
func (l *Letter) Open() bool { return l.End == nil }

// Asked returns the pending request, replay or discard; "" if there is none.
func (l *Letter) Asked() string {
	if l.Request == nil {
		return ""
	}
	return l.Request.For
}

// Classes are the first words of reasons.
var Classes = []string{
	wire.ReasonDecode, wire.ReasonKey, wire.ReasonFit, wire.ReasonConflict, wire.ReasonUnknownType, wire.ReasonTombstone,
	wire.ReasonTooLarge, wire.ReasonDatabase, wire.ReasonHandler, wire.ReasonEffect, wire.ReasonResult, wire.ReasonInterrupted, wire.ReasonParked,
}

var (
	states   = map[byte]string{'d': "dead", 'w': "waiting", 'r': "replayed", 'x': "discarded"}
	requests = map[string]string{"r": "replay", "x": "discard"}
	// requestOf are the requests as they are stored.
	requestOf = map[string]string{"replay": "r", "discard": "x"}
)

const letterSQL = `
SELECT s.stream, s.consumer, s.topic, s.topic_id::text, s.partition, d.offs, d.seq, d.created_at, d.expires_at, d.state, d.record IS NOT NULL,
       coalesce(d.event, ''), d.reason, coalesce(d.sqlstate, ''), coalesce(replace(d.key::text, '-', ''), ''),
       coalesce(d.asked::text, ''), d.asked_at, coalesce(d.asked_by, ''), d.asked_with_result, coalesce(d.answer, ''), d.answered_at,
       d.resolved_at, d.resolved_seq, coalesce(d.resolved_by, ''), coalesce(d.erased_by, ''), d.result IS NOT NULL, d.parks, coalesce(d.version, ''),
       CASE WHEN d.state = 'w' THEN (SELECT max(b.offs) FROM idem_dead_letter b
           WHERE b.stream = d.stream AND b.order_key = d.order_key AND b.offs < d.offs AND b.state = 'd') END
FROM idem_dead_letter d JOIN idem_stream s USING (stream) `

const (
	atSQL = letterSQL + `WHERE d.stream = $1::int AND d.offs = $2::bigint ORDER BY d.seq DESC`

	// heldSQL selects letters that have a key and open ones that have one of some record keys,
	// open ones first.
	heldSQL = letterSQL + `WHERE d.stream = ANY($1::int[]) AND (d.key = $2::uuid OR d.state IN ('d', 'w') AND d.order_key = ANY($3::text[]::uuid[]))
ORDER BY position(d.state::text IN 'dwrx'), d.created_at DESC, d.offs DESC LIMIT 100`

	// theseSQL selects given letters, in the given order.
	theseSQL = letterSQL + `JOIN unnest($1::int[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS a (stream, offs, seq, n)
    ON d.stream = a.stream AND d.offs = a.offs AND d.seq = a.seq
ORDER BY a.n`

	storedSQL = `SELECT record, nullif(result, ''), response FROM idem_dead_letter WHERE stream = $1::int AND offs = $2::bigint AND seq = $3::bigint`
)

// FindLetters returns a dead letter of each of several records: the newest open one, or else the
// newest. There are several if the offset was read again.
func FindLetters(ctx context.Context, db DB, places []Place) ([]Letter, error) {
	var found []Letter
	for _, p := range places {
		s, at, err := atOffset(ctx, db, Name{p.Consumer, p.Topic, p.Partition, p.TopicID}, p.Offset)
		if err != nil {
			return nil, err
		}
		if len(at) == 0 {
			return nil, fmt.Errorf("%v: there is no dead letter at offset %d: %s", s.Name, p.Offset, s.whereIs(p.Offset))
		}
		found = append(found, at[current(at)])
	}
	return found, nil
}

// current returns which of the letters of an offset people mean: the newest open one, or else the
// newest.
func current(newestFirst []Letter) int {
	return max(0, slices.IndexFunc(newestFirst, func(l Letter) bool { return l.Open() }))
}

// LettersAt returns the letters of one offset, the newest first. There are several if the offset
// was read again.
func LettersAt(ctx context.Context, db DB, s *Status, offset int64) ([]Letter, error) {
	return letters(ctx, db, atSQL, s.Stream, offset)
}

// atOffset returns the letters of an offset with their stream: the one that n names, or without a
// topic id the present one and then former ones, the newest first.
func atOffset(ctx context.Context, db DB, n Name, offset int64) (s Status, at []Letter, err error) {
	streams, err := named(ctx, db, n)
	slices.SortStableFunc(streams, func(a, b Status) int {
		switch {
		case a.Former == b.Former:
			return cmp.Compare(b.Stream, a.Stream)
		case a.Former:
			return 1
		}
		return -1
	})
	for i := range streams {
		if at, err = LettersAt(ctx, db, &streams[i], offset); err != nil || len(at) > 0 {
			return streams[i], at, err
		}
	}
	if err == nil {
		s = streams[0]
	}
	return s, nil, err
}

// Refresh reads letters again.
func Refresh(ctx context.Context, db DB, of []Letter) (now []Letter, err error) {
	for some := range slices.Chunk(of, portion) {
		are, err := letters(ctx, db, theseSQL, places(some)...)
		if now = append(now, are...); err != nil {
			return now, err
		}
		for i := range some {
			if i >= len(are) || are[i].Offset != some[i].Offset {
				return now, fmt.Errorf("%s: %w", some[i].Name(), errRemoved)
			}
		}
	}
	return now, nil
}

// errRemoved means that the row of a letter was deleted.
var errRemoved = errors.New("the row of the letter was deleted")

// Stored is what a letter keeps. Each is nil if there is none, or if it is not kept.
type Stored struct {
	Record   []byte
	Returned []byte // the result of its effect
	Response []byte // the beginning of what the other side answered to the call that was refused
}

// Stored reads what the letter keeps.
func (l *Letter) Stored(ctx context.Context, db DB) (s Stored, err error) {
	found, err := one(ctx, db, []any{&s.Record, &s.Returned, &s.Response}, storedSQL, l.stream, l.Offset, l.Seq)
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", l.Name(), errRemoved)
	}
	return s, err
}

// whereIs describes the state of an offset without a letter.
func (s *Status) whereIs(offset int64) string {
	switch {
	case s.Tail == nil:
		return "the rows of its ledger are gone"
	case offset >= s.Tail.Position:
		return fmt.Sprintf("the partition is at offset %d", s.Tail.Position)
	}
	return "it took effect, was skipped, or its letter was removed"
}

// letters reads letters.
func letters(ctx context.Context, db DB, sql string, args ...any) ([]Letter, error) {
	all, err := query(ctx, db, scanLetter, sql, args...)
	if err != nil || len(all) == 0 {
		return all, err
	}
	former, err := formerStreams(ctx, db)
	for i := range all {
		all[i].Former = former[all[i].stream]
	}
	return all, err
}

// formerStreams are the streams of topics that were made again.
func formerStreams(ctx context.Context, db DB) (map[int32]bool, error) {
	all, err := query(ctx, db, pgx.RowTo[int32], ledger.FormersSQL)
	former := map[int32]bool{}
	for _, stream := range all {
		former[stream] = true
	}
	return former, err
}

// scanLetter reads the columns of letterSQL.
func scanLetter(row pgx.CollectableRow) (l Letter, err error) {
	var r Request
	var e End
	var state byte
	var asked string
	var askedAt *time.Time
	err = row.Scan(&l.stream, &l.Consumer, &l.Topic, &l.TopicID, &l.Partition, &l.Offset, &l.Seq, &l.CreatedAt, &l.ExpiresAt, &state, &l.Kept,
		&l.Event, &l.Reason, &l.SQLState, &l.Key, &asked, &askedAt, &r.By, &r.Result, &r.Answer, &r.AnsweredAt, &e.At, &e.Seq, &e.By, &l.ErasedBy, &l.Called, &l.Parks, &l.Version, &l.Behind)
	if err != nil {
		return l, err
	}
	l.CreatedAt, l.State = l.CreatedAt.UTC(), states[state]
	for _, at := range []*time.Time{l.ExpiresAt, r.AnsweredAt, e.At} {
		if at != nil {
			*at = at.UTC()
		}
	}
	if askedAt != nil {
		r.For, r.At = requests[asked], askedAt.UTC()
		l.Request = &r
	}
	if state == 'r' || state == 'x' {
		l.End = &e
	}
	l.Class, l.Reason = split(l.Reason, l.Event)
	return l, nil
}

// split returns the class and the event at the beginning of a reason.
func split(reason, event string) (class, rest string) {
	class, rest, found := strings.Cut(reason, ": ")
	if !found {
		return reason, ""
	}
	if event != "" {
		rest = strings.TrimPrefix(rest, event+": ")
	}
	return class, rest
}

const (
	// parkedSQL is the condition for the letters that are parked behind one of their record key.
	parkedSQL = `
WHERE d.stream = $1::int AND d.state = 'w' AND d.offs > $2::bigint
  AND d.order_key = (SELECT order_key FROM idem_dead_letter WHERE stream = $1::int AND offs = $2::bigint AND seq = $3::bigint)
ORDER BY d.offs LIMIT $4::int`

	behindSQL = letterSQL + parkedSQL

	countBehindSQL = `SELECT count(*) FROM (SELECT FROM idem_dead_letter d ` + parkedSQL + `) p`
)

// mostParked is up to how many letters behind one are counted.
const mostParked = 10_000

// BehindLetter returns the first letters that are parked behind a letter, in the order of the log,
// and how many there are, up to 10,001.
func BehindLetter(ctx context.Context, db DB, l *Letter, limit int) (first []Letter, count int, err error) {
	first, err = letters(ctx, db, behindSQL, l.stream, l.Offset, l.Seq, limit)
	if count = len(first); err == nil && count == limit {
		_, err = one(ctx, db, []any{&count}, countBehindSQL, l.stream, l.Offset, l.Seq, mostParked+1)
	}
	return first, count, err
}

// May returns why a request, replay or discard, is not possible for the letter; nil if it is.
func (l *Letter) May(verb string) error { return l.may(verb) }
