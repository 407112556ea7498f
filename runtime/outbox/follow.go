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

// follow looks at the table from time to time, while another relay leads.
func (r *runner) follow(ctx context.Context, conn *pgx.Conn) error {
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
	switch err := conn.QueryRow(ctx, `SELECT name FROM (SELECT `+eventsKey+`)`+leaderSQL).Scan(&leader); {
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
