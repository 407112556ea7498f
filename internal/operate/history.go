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

// Act is something that an operator did, or a partition that changed its owner.
type Act struct {
	At        time.Time `json:"at"`
	Consumer  string    `json:"consumer"`
	Topic     string    `json:"topic"`
	Partition int32     `json:"partition"` // -1 if it is about several
	What      string    `json:"what"`      // release, read from offset 0, replay, discard, or a kind of row, as RowHead has it
	By        string    `json:"by"`        // the operator, or the process
	Why       string    `json:"why"`       // the reason, or another text of the row
	From      int64     `json:"from"`      // position before; -1 if the act moves none
	To        int64     `json:"to"`        // and after
	Operator  bool      `json:"operator"`  // an operator did it, not a process
	Letters   int       `json:"letters"`   // how many were replayed or discarded; 0 for other acts
}

const (
	// actsSQL selects the newest rows of ledgers that are no batch, and no answer to a request.
	actsSQL = `
WITH streams AS MATERIALIZED (SELECT * FROM idem_stream WHERE ($1::text = '' OR consumer = $1::text)
), share AS (SELECT greatest(20, 5000 / greatest(count(*), 1)) AS n FROM streams)
SELECT a.written_at, s.consumer, s.topic, s.partition, a.kind, a.writer, coalesce(a.info, ''), a.prev, a.next
FROM streams s, LATERAL (
    SELECT * FROM (
        (SELECT seq, written_at, kind::text, writer::text, info, prev, next FROM idem_ledger l
        WHERE l.stream = s.stream AND l.kind <> 'b' AND l.kind <> 'l' ORDER BY l.seq DESC LIMIT (SELECT n FROM share))
        UNION
        (SELECT seq, written_at, kind::text, 'o', info, prev, next FROM idem_operator o
        WHERE o.stream = s.stream AND o.kind <> 'l' ORDER BY o.seq DESC LIMIT (SELECT n FROM share))
    ) u WHERE u.kind <> 'f' OR $2::bool) a
ORDER BY a.written_at DESC, s.stream, a.seq DESC LIMIT $3::int`

	// requestsSQL selects the newest requests about letters of operators.
	requestsSQL = `
SELECT r.asked_at, min(s.consumer), min(s.topic), CASE WHEN count(DISTINCT s.stream) = 1 THEN min(s.partition) ELSE -1 END,
    CASE WHEN bool_or(coalesce(r.asked, r.state) = 'x') THEN 'discard' ELSE 'replay' END, r.asked_by, count(*)
FROM (SELECT stream, asked_at, asked_by, asked, state FROM idem_dead_letter WHERE asked_at IS NOT NULL ORDER BY asked_at DESC LIMIT 10000) r
JOIN idem_stream s USING (stream)
WHERE ($1::text = '' OR s.consumer = $1::text) AND NOT starts_with(r.asked_by, 'idemgen:')
GROUP BY r.asked_at, r.asked_by ORDER BY r.asked_at DESC LIMIT $2::int`
)

// History returns the newest acts of operators, the newest first, and the ledgers that began; with
// takeOvers also the changes of owners. Of requests, the newest 10,000 letters are searched. A
// letter keeps only the last one: a replay that was rejected is not found any more once the letter
// was discarded or asked about again, because no other table has it.
func History(ctx context.Context, db DB, consumer string, takeOvers bool, limit int) ([]Act, error) {
	acts, err := query(ctx, db, func(row pgx.CollectableRow) (a Act, err error) {
		var kind, writer, info string
		err = row.Scan(&a.At, &a.Consumer, &a.Topic, &a.Partition, &kind, &writer, &info, &a.From, &a.To)
		if err != nil {
			return a, err
		}
		a.At, a.What, a.By = a.At.UTC(), kinds[kind[0]], info
		if a.Operator = writer == "o"; a.Operator {
			a.By, a.Why, _ = strings.Cut(strings.TrimPrefix(info, "operator "), ": ")
			switch kind[0] {
			case ledger.Operator:
				a.What = "release"
			case ledger.Genesis:
				a.What = fmt.Sprintf("read from offset %d", a.To)
			}
		}
		return a, nil
	}, actsSQL, consumer, takeOvers, limit)
	if err != nil {
		return nil, err
	}
	requests, err := query(ctx, db, func(row pgx.CollectableRow) (a Act, err error) {
		a.From, a.To, a.Operator = -1, -1, true
		err = row.Scan(&a.At, &a.Consumer, &a.Topic, &a.Partition, &a.What, &a.By, &a.Letters)
		a.At = a.At.UTC()
		a.By, a.Why, _ = strings.Cut(a.By, ": ")
		return a, err
	}, requestsSQL, consumer, limit)
	acts = append(acts, requests...)
	slices.SortStableFunc(acts, func(a, b Act) int { return b.At.Compare(a.At) })
	return acts[:min(len(acts), limit)], err
}
