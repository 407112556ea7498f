package doctor

import (
	"context"
	"time"
)

// outboxSQL says how many events wait, for how long the first one has, and which relay leads:
// none where Debezium sends.
const outboxSQL = `SELECT (SELECT count(*) FROM idem_outbox),
	coalesce(extract(epoch FROM clock_timestamp() - (SELECT written_at FROM idem_outbox ORDER BY seq LIMIT 1)), 0)::float8,
	(SELECT concat_ws(', ', nullif(a.application_name, ''), host(a.client_addr) || ':' || a.client_port, 'pid ' || a.pid,
		'since ' || to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
	FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE l.locktype = 'advisory' AND l.classid = 20041965 AND l.objid = 'idem_outbox'::regclass::oid AND l.granted
	AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

// outbox looks at events that wait to be sent, where there is a table of them.
func (e *examination) outbox(ctx context.Context) error {
	if e.lacks(ctx, "idem_outbox") {
		return nil
	}
	var waiting int
	var seconds float64
	var leader *string
	if err := e.Database.QueryRow(ctx, outboxSQL).Scan(&waiting, &seconds, &leader); err != nil {
		return err
	}
	oldest := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	switch {
	case waiting == 0 && leader == nil:
		e.add(OK, "outbox", "", "all events are sent, and no relay leads")
	case leader == nil:
		e.add(Warning, "outbox", "start a relay, or read the logs of the relays that run", "unsent: %s, the first one for %s, and no relay leads", count(waiting, "event"), oldest)
	case oldest > time.Minute:
		e.add(Failure, "outbox", manual("The outbox is stuck"), "unsent: %s, the first one for %s, although a relay leads: %s", count(waiting, "event"), oldest, *leader)
	default:
		e.add(OK, "outbox", "", "unsent: %s, and a relay leads: %s", count(waiting, "event"), *leader)
	}
	return nil
}
