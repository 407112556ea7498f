package inspect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/stream"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Place is where a record stands, and for which consumer.
type Place struct {
	Consumer  string `json:"consumer"`
	Topic     string `json:"topic"`
	TopicID   string `json:"topic_id"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// Letter is a dead letter, or a record that waits behind one, without its record.
type Letter struct {
	Place
	Seq       int64      `json:"seq"` // of the ledger's row that passed the record
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"` // when an open one is closed; nil is never
	State     string     `json:"state"`      // dead, waiting, replayed or discarded
	Class     string     `json:"class"`      // the reason's first word: decode, conflict, handler, ...
	Event     string     `json:"event"`      // "" if it is not known
	Reason    string     `json:"reason"`     // what failed, where; without class and event
	SQLState  string     `json:"sqlstate"`   // "" if no error of the database is the reason
	Key       string     `json:"key"`        // of a conflict, 32 hex digits; else ""
	Request   *Request   `json:"request"`    // the last one of an operator; nil is none
	End       *End       `json:"end"`        // nil while it is open
}

// Open reports whether nothing has become of the letter yet.
func (l *Letter) Open() bool { return l.End == nil }

// Request is what an operator asked of the partition's owner.
type Request struct {
	For        string     `json:"for"` // replay or discard; "" once it is answered
	By         string     `json:"by"`  // who, and why
	At         time.Time  `json:"at"`
	Result     bool       `json:"with_result"` // the operator says what the effect returned
	Answer     string     `json:"answer"`      // to the last request; "" is none
	AnsweredAt *time.Time `json:"answered_at"`
}

// End is what became of a letter.
type End struct {
	At  *time.Time `json:"at"`
	Seq *int64     `json:"seq"` // of the ledger's row that did it; nil if the upkeep closed it
	By  string     `json:"by"`  // who, and why
}

// Filter says which letters are meant.
type Filter struct {
	Consumer string // "" is all
	Topic    string // "" is all
	Class    string // of the reason; "" is all
	Event    string // "" is all
	All      bool   // also those that are closed
	Limit    int    // at most so many, the newest ones; at least 1
}

var states = map[byte]string{'d': "dead", 'w': "waiting", 'r': "replayed", 'x': "discarded"}

var requests = map[string]string{"r": "replay", "x": "discard"}

const letterColumns = `s.consumer, s.topic, s.topic_id::text, s.partition, d.offs, d.seq, d.created_at, d.expires_at, d.state,
       coalesce(d.event, ''), d.reason, coalesce(d.sqlstate, ''), coalesce(replace(d.key::text, '-', ''), ''),
       coalesce(d.asked::text, ''), d.asked_at, coalesce(d.asked_by, ''), d.asked_result IS NOT NULL, coalesce(d.answer, ''), d.answered_at,
       d.resolved_at, d.resolved_seq, coalesce(d.resolved_by, '')`

// lettersSQL is letters, the newest first. A class is a prefix of the reason up to its colon.
const lettersSQL = `
SELECT ` + letterColumns + `
FROM idem_dead_letter d JOIN idem_stream s USING (stream)
WHERE ($1::text = '' OR s.consumer = $1::text) AND ($2::text = '' OR s.topic = $2::text)
  AND ($3::text = '' OR starts_with(d.reason, $3::text || ':')) AND ($4::boolean OR d.state IN ('d', 'w'))
  AND ($6::text = '' OR d.event = $6::text)
ORDER BY d.created_at DESC, s.consumer, s.topic, s.partition, d.offs DESC, d.seq DESC
LIMIT $5::bigint`

// Letters are the letters that a filter means, the newest first; more reports whether there are
// others behind them. A consumer or topic that has no ledger is a [stream.NotFoundError].
func Letters(ctx context.Context, db stream.DB, f Filter) (found []Letter, more bool, err error) {
	if err := known(ctx, db, f.Consumer, f.Topic); err != nil {
		return nil, false, err
	}
	rows, err := db.Query(ctx, lettersSQL, pgx.QueryExecModeExec, f.Consumer, f.Topic, f.Class, f.All, int64(f.Limit)+1, f.Event)
	if err != nil {
		return nil, false, stream.Explain(err)
	}
	found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (Letter, error) { return scanLetter(row) })
	if more = len(found) > f.Limit; more {
		found = found[:f.Limit]
	}
	return found, more, stream.Explain(err)
}

// known is an error if there is no ledger of the consumer, or none of a topic.
func known(ctx context.Context, db stream.DB, consumer, topic string) error {
	if consumer == "" && topic == "" {
		return nil
	}
	all, err := stream.List(ctx, db, consumer)
	if err != nil || topic == "" {
		return err
	}
	for i := range all {
		if all[i].Topic == topic {
			return nil
		}
	}
	var topics []string
	for i := range all {
		topics = appendNew(topics, all[i].Topic)
	}
	return &stream.NotFoundError{Name: stream.Name{Consumer: consumer, Topic: topic, Partition: -1}, Near: topics, What: "topics"}
}

// scanLetter reads letterColumns, and then more.
func scanLetter(row pgx.Row, more ...any) (Letter, error) {
	var l Letter
	var r Request
	var e End
	var state byte
	var asked string
	var askedAt *time.Time
	err := row.Scan(append([]any{&l.Consumer, &l.Topic, &l.TopicID, &l.Partition, &l.Offset, &l.Seq, &l.CreatedAt, &l.ExpiresAt, &state,
		&l.Event, &l.Reason, &l.SQLState, &l.Key, &asked, &askedAt, &r.By, &r.Result, &r.Answer, &r.AnsweredAt, &e.At, &e.Seq, &e.By}, more...)...)
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

// split takes class and event from the front of a reason.
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

// NoLetterError says that there is no letter of a record, and what the ledger says of it.
type NoLetterError struct {
	Place
	Near []int64 // offsets of the partition's letters, the nearest first
}

func (e *NoLetterError) Error() string {
	text := fmt.Sprintf("%s/%d of %s has no dead letter at offset %d", e.Topic, e.Partition, e.Consumer, e.Offset)
	if len(e.Near) == 0 {
		return text + ", nor at any other"
	}
	near := make([]string, len(e.Near))
	for i, offset := range e.Near {
		near[i] = fmt.Sprintf("%d:%d", e.Partition, offset)
	}
	return text + "; the nearest are " + strings.Join(near, ", ")
}

func appendNew(all []string, text string) []string {
	for _, have := range all {
		if have == text {
			return all
		}
	}
	return append(all, text)
}

// Classes are the first words of reasons.
var Classes = []string{
	wire.ReasonDecode, wire.ReasonKey, wire.ReasonFit, wire.ReasonConflict, wire.ReasonUnknownType, wire.ReasonTombstone,
	wire.ReasonTooLarge, wire.ReasonDatabase, wire.ReasonHandler, wire.ReasonEffect, wire.ReasonInterrupted,
}
