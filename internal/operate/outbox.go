package operate

import (
	"context"
	"time"
)

// Outbox is the state of the table idem_outbox.
type Outbox struct {
	Waiting int           // events that are not sent yet
	Oldest  time.Duration // for which the first of them has waited
	Leader  string        // the session of the relay that leads; "" if none does, as where Debezium sends
}

const outboxSQL = `SELECT (SELECT count(*) FROM idem_outbox),
	coalesce(extract(epoch FROM clock_timestamp() - (SELECT written_at FROM idem_outbox ORDER BY seq LIMIT 1)), 0)::float8,
	coalesce((SELECT concat_ws(', ', nullif(a.application_name, ''), host(a.client_addr) || ':' || a.client_port, 'pid ' || a.pid,
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
