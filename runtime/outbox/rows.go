package outbox

import (
	"context"
	"iter"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// row is one row of the outbox.
type row struct {
	named
	Record
	kind  string // the event's type
	since time.Time
}

// named is a row whichever server has it: a failover may take the sequence of ids back.
type named struct {
	id    int64
	event string // its Idempotency-Key
}

// statements are the names of the prepared statements.
type statements struct{ page, one, remove, mark, passed, waiting string }

// of are the statements, and where their names go.
func (n *statements) of(table wire.Outbox) iter.Seq2[session.Statement, *string] {
	return func(yield func(session.Statement, *string) bool) {
		for _, s := range []struct {
			label string
			sql   func(table, columns string) string
			name  *string
		}{
			{"outbox_page", pageSQL, &n.page}, {"outbox_one", oneSQL, &n.one}, {"outbox_remove", removeSQL, &n.remove},
			{"outbox_mark", markSQL, &n.mark}, {"outbox_passed", passedSQL, &n.passed}, {"outbox_waiting", waitingSQL, &n.waiting},
		} {
			if !yield(session.NewStatement(s.label, s.sql(table.Table, columnsOf(table))), s.name) {
				return
			}
		}
	}
}

const columnsOfRow = `id, event_id::text, topic, record_key, event_type, payload, extract(epoch FROM clock_timestamp() - created_at)::float8`

// notHeld leaves out what is held back. NOT IN of a subquery is a filter of the index scan: a
// join would sort the table.
const notHeld = `topic <> ALL ($2::text[]) AND (topic, record_key) NOT IN (SELECT * FROM unnest($3::text[], $4::text[]))`

// pageSQL reads the first rows that are not held back. The lengths of values are known without
// reading them.
func pageSQL(table, columns string) string {
	return `
SELECT ` + columnsOfRow + columns + `
FROM (SELECT *, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before
      FROM (SELECT *, coalesce(octet_length(payload), 0) + octet_length(record_key) AS bytes
            FROM ` + table + `
            WHERE id > $1 AND ` + notHeld + `
            ORDER BY id
            LIMIT $5) AS page) AS sized
WHERE bytes_before < $6
ORDER BY id`
}

func oneSQL(table, columns string) string {
	return `SELECT ` + columnsOfRow + columns + ` FROM ` + table + ` WHERE id = $1`
}

func removeSQL(table, _ string) string {
	return `
DELETE FROM ` + table + ` AS o
USING unnest($1::bigint[], $2::text[]) AS sent (id, event)
WHERE o.id = sent.id AND o.event_id = sent.event::uuid`
}

// page reads the first rows that are not held back.
func (t *term) page(ctx context.Context) ([]row, error) {
	topics, ofTopics, keys := t.excluded()
	return t.rows(ctx, t.session.page, t.floor.at, topics, ofTopics, keys, t.batchRows(), t.batchBytes())
}

// find reads one row, if it is still there.
func (t *term) find(ctx context.Context, id int64) (row, bool, error) {
	rows, err := t.rows(ctx, t.session.one, id)
	if err != nil || len(rows) == 0 {
		return row{}, false, err
	}
	return rows[0], true, nil
}

func (t *term) rows(ctx context.Context, statement string, args ...any) ([]row, error) {
	found, err := t.session.conn.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, t.scan)
}

func (t *term) scan(of pgx.CollectableRow) (r row, err error) {
	var key string
	var age float64
	headers := make([]*string, len(t.table.Headers))
	to := []any{&r.id, &r.event, &r.Topic, &key, &r.kind, &r.Value, &age}
	for i := range headers {
		to = append(to, &headers[i])
	}
	if err := of.Scan(to...); err != nil {
		return r, err
	}
	r.Key = []byte(key)
	r.since = time.Now().Add(-time.Duration(age * float64(time.Second)))
	r.Headers = append(r.Headers, wire.Header{Name: "Idempotency-Key", Value: []byte(r.event)}, wire.Header{Name: "event-type", Value: []byte(r.kind)})
	for i, v := range headers {
		if v != nil {
			r.Headers = append(r.Headers, wire.Header{Name: t.table.Headers[i].Name, Value: []byte(*v)})
		}
	}
	return r, nil
}

// remove deletes the rows that Kafka has. It is called when the context of Run may have ended.
func (t *term) remove(ctx context.Context) error {
	if len(t.acked) == 0 {
		return nil
	}
	ids, events := make([]int64, len(t.acked)), make([]string, len(t.acked))
	for i, a := range t.acked {
		ids[i], events[i] = a.id, a.event
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.StatementTimeout)
	defer cancel()
	if _, err := t.session.conn.Exec(ctx, t.session.remove, ids, events); err != nil {
		return err
	}
	t.acked = t.acked[:0]
	t.floor.deleted = true
	return nil
}

func (k named) String() string { return "row " + strconv.FormatInt(k.id, 10) + ", id " + k.event }
