package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// followEvery is how often a relay that does not lead looks at the table.
	followEvery = 10 * time.Second
	// mostIdle is how long an event may wait until a relay says that the one that leads sends
	// nothing.
	mostIdle = time.Minute
)

// leaderSQL says whose session has the lead. What a role may not see is left out.
const leaderSQL = `
SELECT concat_ws(', ', nullif(a.application_name, ''), host(a.client_addr) || ':' || a.client_port, 'pid ' || a.pid,
    'since ' || to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory' AND l.classid = 20041965 AND l.objid = 'idem_outbox'::regclass::oid AND l.granted
AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// follow looks at the table from time to time, while another relay leads.
func (r *Relay) follow(ctx context.Context, conn *pgx.Conn) error {
	if time.Since(r.measured()) < followEvery {
		return nil
	}
	ctx, cancel := r.asking(ctx)
	defer cancel()
	waiting, oldest, err := r.look(ctx, conn)
	if err != nil {
		return err
	}
	r.count(func(n *numbers) { n.wait(waiting, oldest) })
	if oldest <= mostIdle {
		r.tell(aboutLeader, nil)
		return nil
	}
	leader := ""
	switch err := conn.QueryRow(ctx, leaderSQL).Scan(&leader); {
	case errors.Is(err, pgx.ErrNoRows): // it has just ended
		return nil
	case err != nil:
		return fmt.Errorf("look for the relay that leads: %w", err)
	}
	err = fmt.Errorf("another relay leads (%s), and the first event has waited for %s", leader, oldest.Round(time.Second))
	if r.tell(aboutLeader, err) {
		r.log().Error("outbox: " + err.Error())
	}
	return nil
}
