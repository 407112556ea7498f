package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
)

// Row is a row of a ledger.
type Row struct {
	Consumer    string    `json:"consumer"`
	Topic       string    `json:"topic"`
	TopicID     string    `json:"topic_id"`
	Partition   int32     `json:"partition"`
	Seq         int64     `json:"seq"`
	Kind        string    `json:"kind"` // genesis, fence, batch, letter, operator, skip or rewind
	From        int64     `json:"from"` // the position before: the first offset that a batch covers
	To          int64     `json:"to"`   // the position after: the first offset that it does not cover
	WrittenAt   time.Time `json:"written_at"`
	Keys        int64     `json:"keys"`        // in the row itself, of copies: same_partition
	Letters     int64     `json:"letters"`     // dead letters and waiting records that its transaction wrote
	Transaction string    `json:"transaction"` // Postgres' number of the transaction (xmin)
	Letter      *int64    `json:"letter"`      // of kind letter: the dead letter's offset, in the row's topic and partition
	Info        string    `json:"info"`        // who and why; how many dead letters in a row the ledger ends with
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

	firstRowSQL = `SELECT ` + rowColumns + `
FROM idem_ledger l JOIN idem_stream s USING (stream)
WHERE l.stream = $1::int ORDER BY l.seq LIMIT 1`
)

// Span says which offsets the row covers, in words.
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

// firstRow is the oldest row of a ledger; nil if there is none.
func firstRow(ctx context.Context, db DB, of *Status) (*Row, error) {
	rows, err := readRows(ctx, db, firstRowSQL, of.Stream)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func scanRow(row pgx.CollectableRow) (Row, error) {
	var r Row
	var kind byte
	var letters ledger.InRow
	var from *int64
	err := row.Scan(&r.Consumer, &r.Topic, &r.TopicID, &r.Partition, &r.Seq, &kind, &r.From, &r.To, &r.WrittenAt,
		&r.Keys, &r.Letters, &r.Transaction, &r.Info, &letters.N, &from)
	r.Kind, r.WrittenAt = Kind(kind), r.WrittenAt.UTC()
	switch {
	case kind == ledger.Letter:
		r.Letter = from
	case from != nil:
		letters.First = *from
		r.Info = ledger.Said(r.Info, letters)
	}
	return r, err
}

// readRows runs a query of rowColumns.
func readRows(ctx context.Context, db DB, sql string, args ...any) ([]Row, error) {
	rows, _ := db.Query(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	all, err := pgx.CollectRows(rows, scanRow)
	return all, Explain(err)
}

// ledgers are the streams of a topic as it is now, or one of them.
func ledgers(ctx context.Context, db DB, consumer, topic string, partition int32) ([]Status, error) {
	if partition >= 0 {
		status, err := StreamOf(ctx, db, Name{Consumer: consumer, Topic: topic, Partition: partition})
		return []Status{status}, err
	}
	if err := Known(ctx, db, consumer, topic); err != nil {
		return nil, err
	}
	all, err := List(ctx, db, consumer)
	return slices.DeleteFunc(all, func(s Status) bool { return s.Topic != topic || s.Former }), err
}
