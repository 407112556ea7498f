package operate

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Outbox is the state of the table idem_outbox.
type Outbox struct {
	Waiting int           // events that are not sent yet; at most 100,001
	Oldest  time.Duration // for which the first of them has waited
	Leader  string        // the session of the relay that leads; "" if none does, as where Debezium sends
}

const outboxSQL = `SELECT (SELECT count(*) FROM (SELECT FROM idem_outbox LIMIT 100001) n),
	coalesce(extract(epoch FROM clock_timestamp() - (SELECT written_at FROM idem_outbox ORDER BY seq LIMIT 1)), 0)::float8,
	coalesce((SELECT concat_ws(', ', nullif(a.application_name, ''), host(a.client_addr) || ':' || a.client_port, 'pid ' || a.pid || ' of Postgres',
		'since ' || to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
	FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE l.locktype = 'advisory' AND l.classid = 20041965 AND l.objid = 'idem_outbox'::regclass::oid AND l.granted
	AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())), '')`

// OutboxOf reads the state of the outbox.
func OutboxOf(ctx context.Context, db DB) (o Outbox, err error) {
	var seconds float64
	_, err = one(ctx, db, []any{&o.Waiting, &seconds, &o.Leader}, outboxSQL)
	o.Oldest = time.Duration(seconds * float64(time.Second)).Round(time.Second)
	return o, err
}

// FindOutbox reads the state of the outbox; nil if the database has none.
func FindOutbox(ctx context.Context, db DB) (*Outbox, error) {
	if ok, err := has(ctx, db, "idem_outbox"); err != nil || !ok {
		return nil, err
	}
	o, err := OutboxOf(ctx, db)
	return &o, err
}

// late is for how long an event may wait before something is wrong.
const late = time.Minute

// Stuck reports whether events wait although they should have been sent.
func (o *Outbox) Stuck() bool { return o.Waiting > 0 && o.Oldest > late }

// Kind is the events of one kind that wait in the outbox.
type Kind struct {
	AggregateType string
	Type          string
	Waiting       int
	Oldest        time.Time
}

const outboxKindsSQL = `
SELECT aggregatetype, type, count(*), min(written_at) FROM (SELECT aggregatetype, type, written_at FROM idem_outbox ORDER BY seq LIMIT 10000) e
GROUP BY 1, 2 ORDER BY 4, 1, 2 LIMIT 50`

// OutboxKinds returns what waits in the outbox, of the first 10,000 events.
func OutboxKinds(ctx context.Context, db DB) ([]Kind, error) {
	return query(ctx, db, func(row pgx.CollectableRow) (k Kind, err error) {
		err = row.Scan(&k.AggregateType, &k.Type, &k.Waiting, &k.Oldest)
		k.Oldest = k.Oldest.UTC()
		return k, err
	}, outboxKindsSQL)
}
