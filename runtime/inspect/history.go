package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/stream"
)

// Mark is a row of a ledger that is no batch: a beginning, an owner, or an operator.
type Mark struct {
	Consumer  string    `json:"consumer"`
	Topic     string    `json:"topic"`
	TopicID   string    `json:"topic_id"`
	Partition int32     `json:"partition"`
	Seq       int64     `json:"seq"`
	Kind      string    `json:"kind"` // genesis, fence, letter, operator, skip or rewind
	From      int64     `json:"from"` // position before
	To        int64     `json:"to"`   // and after
	WrittenAt time.Time `json:"written_at"`
	Info      string    `json:"info"`  // who, and why
	Owner     string    `json:"owner"` // who owned the partition from then on; "" if the row gave it to nobody
	// Until and Reached are when the next mark was written, and the position before it: what an
	// owner did. Of the last mark they are nil, and the position now.
	Until   *time.Time `json:"until"`
	Reached int64      `json:"reached"`
}

// marksSQL reads the newest marks of a ledger, those that were moved to idem_operator as well.
const marksSQL = `
SELECT s.consumer, s.topic, s.topic_id::text, s.partition, m.seq, m.kind, m.prev, m.next, m.written_at, coalesce(m.info, '')
FROM (
    (SELECT stream, seq, kind, prev, next, written_at, info FROM idem_ledger WHERE stream = $1::int AND kind <> 'b' ORDER BY seq DESC LIMIT $2::bigint)
    UNION ALL
    (SELECT stream, seq, kind, prev, next, written_at, info FROM idem_operator WHERE stream = $1::int ORDER BY seq DESC LIMIT $2::bigint)
) m JOIN idem_stream s USING (stream)
ORDER BY m.seq DESC LIMIT $2::bigint`

// History is what happened to the ledgers of a topic, or of one of its partitions if that is not
// negative, besides batches: at most the newest n marks of each, the oldest first.
func History(ctx context.Context, db stream.DB, consumer, topic string, partition int32, n int) ([]Mark, error) {
	of, err := ledgers(ctx, db, consumer, topic, partition)
	if err != nil {
		return nil, err
	}
	var all []Mark
	for i := range of {
		rows, err := db.Query(ctx, marksSQL, pgx.QueryExecModeExec, of[i].Stream, int64(n))
		if err != nil {
			return nil, stream.Explain(err)
		}
		marks, err := pgx.CollectRows(rows, scanMark)
		if err != nil {
			return nil, stream.Explain(err)
		}
		slices.Reverse(marks)
		join(marks, of[i].Tail)
		all = append(all, marks...)
	}
	slices.SortStableFunc(all, func(a, b Mark) int {
		return cmp.Compare(a.Partition, b.Partition)
	})
	return all, nil
}

func scanMark(row pgx.CollectableRow) (Mark, error) {
	var m Mark
	var kind byte
	err := row.Scan(&m.Consumer, &m.Topic, &m.TopicID, &m.Partition, &m.Seq, &kind, &m.From, &m.To, &m.WrittenAt, &m.Info)
	m.Kind, m.WrittenAt, m.Reached = stream.Kind(kind), m.WrittenAt.UTC(), m.To
	if kind == ledger.Fence && !ledger.ByOperator(kind, m.Info) && !ledger.HandedBack(m.Info) {
		m.Owner = ledger.Owner(m.Info)
	}
	return m, err
}

// join says of each mark how long it was the last one, and how far the position came meanwhile. A
// letter that was replayed or discarded is no end of an owner.
func join(marks []Mark, tail *stream.Tail) {
	if tail == nil {
		return
	}
	var until *time.Time
	reached, letter := tail.Position, stream.Kind(ledger.Letter)
	for i := len(marks) - 1; i >= 0; i-- {
		m := &marks[i]
		if m.Kind == letter {
			continue
		}
		m.Until, m.Reached = until, reached
		until, reached = &m.WrittenAt, m.From
	}
}
