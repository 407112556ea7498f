package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Letter is a dead letter, and what was asked about it last.
type Letter struct {
	Consumer   string `json:"consumer"`
	Topic      string `json:"topic"`
	Partition  int32  `json:"partition"`
	Offset     int64  `json:"offset"`
	Row        int64  `json:"row"`    // of the ledger that passed the record
	State      string `json:"state"`  // dead, waiting, replayed or discarded
	Event      string `json:"event"`  // "" if it is not known
	Reason     string `json:"reason"` // its first word is the class
	Kept       bool   `json:"kept"`   // the record is there
	ResolvedBy string `json:"resolved_by"`
	Request

	stream int32
}

// Request is what is asked about a letter, or was asked last.
type Request struct {
	Asked   string     `json:"asked"` // replay or discard; "" if nothing is, or it was answered
	AskedAt *time.Time `json:"asked_at"`
	AskedBy string     `json:"asked_by"` // who, and why
	Answer  string     `json:"answer"`
}

// Name is the letter as a command names it.
func (l *Letter) Name() string {
	return fmt.Sprintf("%s/%d offset %d of %s", l.Topic, l.Partition, l.Offset, l.Consumer)
}

// Place is where a record stood.
type Place struct {
	Partition int32
	Offset    int64
}

// Filter says which dead letters of a topic are meant. "" is any.
type Filter struct {
	Class string // first word of the reason
	Event string // name in Go
}

const letterColumns = `
SELECT d.stream, d.offs, d.seq, d.state::text, coalesce(d.event, ''), d.reason, d.record IS NOT NULL, coalesce(d.asked::text, ''), d.asked_at,
       coalesce(d.asked_by, ''), coalesce(d.answer, ''), coalesce(d.resolved_by, '')
FROM idem_dead_letter d `

var (
	states = map[string]string{"d": "dead", "w": "waiting", "r": "replayed", "x": "discarded"}
	verbs  = map[string]string{"": "", "r": "replay", "x": "discard"}
)

// FindLetters finds the dead letters of records, the last one of each.
func FindLetters(ctx context.Context, db DB, consumer, topic string, places []Place) ([]Letter, error) {
	var found []Letter
	for _, p := range places {
		s, err := Find(ctx, db, Name{Consumer: consumer, Topic: topic, Partition: p.Partition})
		if err != nil {
			return nil, err
		}
		letters, err := s.letters(ctx, db, `WHERE d.stream = $1 AND d.offs = $2 ORDER BY d.seq DESC LIMIT 1`, p.Offset)
		if err != nil {
			return nil, err
		}
		if len(letters) == 0 {
			return nil, fmt.Errorf("%v: offset %d is no dead letter: %s", s.Name(), p.Offset, s.whereIs(p.Offset))
		}
		found = append(found, letters...)
	}
	return found, nil
}

// DeadLetters finds the dead letters of a topic's partitions that are neither replayed nor
// discarded, nor wait behind another one.
func DeadLetters(ctx context.Context, db DB, consumer, topic string, f Filter) ([]Letter, error) {
	all, err := list(ctx, db, "")
	if err != nil {
		return nil, err
	}
	var found []Letter
	known := false
	for i := range all {
		s := &all[i]
		if s.Consumer != consumer || s.Topic != topic || s.Former {
			continue
		}
		known = true
		letters, err := s.letters(ctx, db, `
WHERE d.stream = $1 AND d.state = 'd' AND ($2 = '' OR split_part(d.reason, ':', 1) = $2) AND ($3 = '' OR d.event = $3) ORDER BY d.offs, d.seq`, f.Class, f.Event)
		if err != nil {
			return nil, err
		}
		found = append(found, letters...)
	}
	if !known {
		return nil, notFound(Name{Consumer: consumer, Topic: topic, Partition: -1}, all)
	}
	return found, nil
}

// whereIs says what is known of an offset without a letter.
func (s *Status) whereIs(offset int64) string {
	switch {
	case s.Tail == nil:
		return "the rows of its ledger are gone"
	case offset >= s.Tail.Position:
		return fmt.Sprintf("the partition is at offset %d", s.Tail.Position)
	}
	return "it took effect, was passed over, or its letter is removed"
}

func (s *Status) letters(ctx context.Context, db DB, where string, args ...any) ([]Letter, error) {
	rows, err := db.Query(ctx, letterColumns+where, append([]any{pgx.QueryExecModeExec, s.Stream}, args...)...)
	if err != nil {
		return nil, Explain(err)
	}
	letters, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (Letter, error) {
		l := Letter{Consumer: s.Consumer, Topic: s.Topic, Partition: s.Partition}
		var state, asked string
		err := r.Scan(&l.stream, &l.Offset, &l.Row, &state, &l.Event, &l.Reason, &l.Kept, &asked, &l.AskedAt, &l.AskedBy, &l.Answer, &l.ResolvedBy)
		l.State, l.Asked = states[state], verbs[asked]
		return l, err
	})
	return letters, Explain(err)
}

// askSQL asks, unless somebody asked before. A replay has a number, by which an effect knows that
// it was asked for behind what became of its last call.
const askSQL = `
UPDATE idem_dead_letter SET asked = $4::text::"char", asked_at = clock_timestamp(), asked_by = $5, answer = NULL, answered_at = NULL,
    asked_number = CASE WHEN $4::text = 'r' THEN nextval('idem_fence') END, asked_result = $6
WHERE stream = $1 AND offs = $2 AND seq = $3 AND state = 'd' AND asked IS NULL`

// Ask asks the owner of a letter's partition to replay or to discard it. It does so between two
// batches, within seconds; if the partition has no owner, the next one does. A letter is asked
// about once: what came of it is in its row. An effect whose call failed, or of which nobody knows
// what it did, is called again for a replay.
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
	l.Asked, l.AskedBy = verb, who
	if by.DryRun {
		return l, nil
	}
	tx, err := db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return l, err
	}
	tag, err := tx.Exec(ctx, askSQL, pgx.QueryExecModeExec, l.stream, l.Offset, l.Row, asked, who, result)
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
		return fmt.Errorf("%s waits behind a dead letter of its record key: replay or discard that one (%s)", l.Name(), l.Reason)
	case l.State != "dead":
		return fmt.Errorf("%s was %s by %s", l.Name(), l.State, l.ResolvedBy)
	case l.Asked != "":
		return fmt.Errorf("%s: a %s is asked for already, since %s by %s", l.Name(), l.Asked, l.AskedAt.UTC().Format(time.RFC3339), l.AskedBy)
	case verb == "replay" && !l.Kept:
		return fmt.Errorf("%s: its record is not kept (on_failure.dead_letter_payload), or was erased: it can be discarded only", l.Name())
	}
	return nil
}

// errRemoved says that the row of a letter is gone.
var errRemoved = errors.New("the letter's row was removed")

// Again reads the letter again.
func (l *Letter) Again(ctx context.Context, db DB) (Letter, error) {
	s := Status{Stream: l.stream, Consumer: l.Consumer, Topic: l.Topic, Partition: l.Partition}
	letters, err := s.letters(ctx, db, `WHERE d.stream = $1 AND d.offs = $2 AND d.seq = $3`, l.Offset, l.Row)
	if err == nil && len(letters) == 0 {
		err = fmt.Errorf("%s: %w", l.Name(), errRemoved)
	}
	if err != nil {
		return *l, err
	}
	return letters[0], nil
}

// Answered reports whether the owner did what was asked, or said why not.
func (l *Letter) Answered() bool { return l.Asked == "" }
