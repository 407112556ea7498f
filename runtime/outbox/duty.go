package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// duty is what one session at a time does, of all relays that have it.
type duty struct {
	what string // is sent
	// lock is SQL that asks for the lead, with arguments. The lead belongs to the session.
	lock string
	args []any
	// proof is SQL that fails where the session may not take out of the table what it sends. Else
	// it would be sent again and again.
	proof    string
	channel  string // on which a commit is told
	database string // what Health says of the database is about this
	tells    []string
	// follow is what a relay does for which another one leads; nil is nothing.
	follow func(ctx context.Context, conn *pgx.Conn) error
	// lead sends until it cannot. The session was alive at since.
	lead func(ctx context.Context, conn *pgx.Conn, since time.Time) error
}

// longPause is how long a relay that cannot lead waits at most until it tries again. It tries soon
// if it led for longer.
const longPause = 30 * time.Second

// do leads, or waits to lead, until the context ends.
func (r *Relay) do(ctx context.Context, d duty) {
	for pause := r.pace.poll; ; {
		began := time.Now()
		err := r.term(ctx, d)
		if ctx.Err() != nil {
			return
		}
		if err == nil || time.Since(began) > longPause {
			pause = r.pace.poll
		} else {
			pause = min(2*pause, longPause)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", d.what, err)
			r.log().Error("outbox: the relay does not lead", append([]any{"err", err, "next", pause}, stack(err)...)...)
		}
		r.tell(d.database, err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// term leads until it cannot. Without an error another one leads.
func (r *Relay) term(ctx context.Context, d duty) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked("the relay", p)
		}
	}()
	limited, cancel := r.asking(ctx)
	defer cancel()
	pooled, err := r.DB.Acquire(limited)
	if err != nil {
		return fmt.Errorf("no connection of the pool: %w", err)
	}
	conn := pooled.Hijack() // its session has settings and a lock of its own
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	since := time.Now()
	led, err := r.elected(ctx, conn, d)
	if err == nil && !led && d.follow != nil {
		err = d.follow(ctx, conn)
	}
	if !led {
		return err
	}
	r.tell(d.database, nil)
	r.log().Info("outbox: the relay leads", "sends", d.what)
	defer func() {
		for _, about := range d.tells {
			r.tell(about, nil)
		}
	}()
	return d.lead(ctx, conn, since)
}

// nameSQL names a session in pg_stat_activity, unless its pool does.
const nameSQL = `SELECT set_config('application_name', 'idemgen outbox', false) WHERE current_setting('application_name') = ''`

// elected asks for the lead.
func (r *Relay) elected(ctx context.Context, conn *pgx.Conn, d duty) (got bool, err error) {
	limited, cancel := r.asking(ctx)
	defer cancel()
	if _, err := conn.Exec(limited, nameSQL); err != nil {
		return false, err
	}
	if err := conn.QueryRow(limited, d.lock, d.args...).Scan(&got); err != nil || !got {
		return false, explained(err)
	}
	for _, sql := range []string{
		fmt.Sprintf(`SET idle_session_timeout = %d`, r.pace.silence.Milliseconds()), `LISTEN ` + d.channel, d.proof,
	} {
		if _, err := conn.Exec(limited, sql); err != nil {
			return false, explained(err)
		}
	}
	return true, nil
}

// asking bounds a statement of a leader: after so long a silence it does not lead any more.
func (r *Relay) asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.pace.silence)
}
