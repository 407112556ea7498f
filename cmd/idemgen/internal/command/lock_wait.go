package command

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/operate"
)

// lockPatience is how long a statement may run until it is asked whether it waits for a lock.
const lockPatience = 2 * time.Second

// lockWatch finds out why a statement of a command does not end: another session may have locked a
// table. It asks on a connection of its own.
type lockWatch struct {
	config *pgx.ConnConfig
	// found takes what a statement waits for. If it returns true, the statement is given up.
	found func(*operate.Lock) (giveUp bool)
}

type watchKey struct{}

// TraceQueryStart begins to watch a statement.
func (w *lockWatch) TraceQueryStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	pid := conn.PgConn().PID()
	timer := time.AfterFunc(lockPatience, func() {
		if found := w.ask(ctx, pid); found != nil && w.found(found) {
			cancel()
		}
	})
	return context.WithValue(ctx, watchKey{}, sync.OnceFunc(func() { timer.Stop(); cancel() }))
}

// TraceQueryEnd ends it.
func (w *lockWatch) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if end, is := ctx.Value(watchKey{}).(func()); is {
		end()
	}
}

// ask asks what a session waits for; nil is nothing that is known.
func (w *lockWatch) ask(ctx context.Context, pid uint32) *operate.Lock {
	config := w.config.Copy()
	config.Tracer = nil
	config.RuntimeParams["search_path"] = "pg_catalog, pg_temp"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil
	}
	defer conn.Close(context.WithoutCancel(ctx))
	found, _ := operate.LockOf(ctx, conn, pid) // the statement itself will say what fails
	return found
}
