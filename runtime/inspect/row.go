package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/stream"
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
       l.xmin::text, coalesce(l.info, '')`

const (
	lastRowsSQL = `SELECT ` + rowColumns + `
FROM idem_ledger l JOIN idem_stream s USING (stream)
WHERE l.stream = $1::int ORDER BY l.seq DESC LIMIT $2::bigint`

	nextRowsSQL = `SELECT ` + rowColumns + `
FROM idem_ledger l JOIN idem_stream s USING (stream)
WHERE l.stream = $1::int AND l.seq > $2::bigint ORDER BY l.seq LIMIT 1000`

	rowSQL = `SELECT ` + rowColumns + `
FROM idem_ledger l JOIN idem_stream s USING (stream)
WHERE l.stream = $1::int AND l.seq = $2::bigint`

	// fromSQL is the first row from a place on.
	fromSQL = `SELECT ` + rowColumns + `
FROM idem_ledger l JOIN idem_stream s USING (stream)
WHERE l.stream = $1::int AND l.seq >= $2::bigint ORDER BY l.seq LIMIT 1`

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
func firstRow(ctx context.Context, db stream.DB, of *stream.Status) (*Row, error) {
	rows, err := readRows(ctx, db, firstRowSQL, of.Stream)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func scanRow(row pgx.CollectableRow) (Row, error) {
	var r Row
	var kind byte
	err := row.Scan(&r.Consumer, &r.Topic, &r.TopicID, &r.Partition, &r.Seq, &kind, &r.From, &r.To, &r.WrittenAt,
		&r.Keys, &r.Letters, &r.Transaction, &r.Info)
	r.Kind, r.WrittenAt = stream.Kind(kind), r.WrittenAt.UTC()
	if offset, ok := ledger.LetterOffset(r.Info); ok && kind == ledger.Letter {
		r.Letter = &offset
	}
	return r, err
}

// readRows runs a query of rowColumns.
func readRows(ctx context.Context, db stream.DB, sql string, args ...any) ([]Row, error) {
	rows, err := db.Query(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	if err != nil {
		return nil, stream.Explain(err)
	}
	all, err := pgx.CollectRows(rows, scanRow)
	return all, stream.Explain(err)
}

// Tail reads the ends of ledgers, and what is appended to them later.
type Tail struct {
	db      stream.DB
	streams []stream.Status
	last    []int64 // of each stream, the last row that was read; -1 is none
}

// NewTail finds the ledgers of a topic, or of one of its partitions if that is not negative.
func NewTail(ctx context.Context, db stream.DB, consumer, topic string, partition int32) (*Tail, error) {
	all, err := ledgers(ctx, db, consumer, topic, partition)
	return &Tail{db: db, streams: all, last: slices.Repeat([]int64{-1}, len(all))}, err
}

// ledgers are the streams of a topic as it is now, or one of them.
func ledgers(ctx context.Context, db stream.DB, consumer, topic string, partition int32) ([]stream.Status, error) {
	if partition >= 0 {
		status, err := stream.Find(ctx, db, stream.Name{Consumer: consumer, Topic: topic, Partition: partition})
		return []stream.Status{status}, err
	}
	if err := stream.Known(ctx, db, consumer, topic); err != nil {
		return nil, err
	}
	all, err := stream.List(ctx, db, consumer)
	return slices.DeleteFunc(all, func(s stream.Status) bool { return s.Topic != topic || s.Former }), err
}

// Last are the n rows that were written last, the newest at the end.
func (t *Tail) Last(ctx context.Context, n int) ([]Row, error) {
	var all []Row
	for i := range t.streams {
		rows, err := readRows(ctx, t.db, lastRowsSQL, t.streams[i].Stream, int64(n))
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			t.last[i] = rows[0].Seq
		}
		all = append(all, rows...)
	}
	inOrder(all)
	return all[max(0, len(all)-n):], nil
}

// Next are rows that were appended behind those that were read, the newest at the end; none if
// there are none yet.
func (t *Tail) Next(ctx context.Context) ([]Row, error) {
	var all []Row
	for i := range t.streams {
		rows, err := readRows(ctx, t.db, nextRowsSQL, t.streams[i].Stream, t.last[i])
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			t.last[i] = rows[len(rows)-1].Seq
		}
		all = append(all, rows...)
	}
	inOrder(all)
	return all, nil
}

// inOrder sorts rows by their time.
func inOrder(all []Row) {
	slices.SortFunc(all, func(a, b Row) int {
		return cmp.Or(a.WrittenAt.Compare(b.WrittenAt), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Seq, b.Seq))
	})
}
