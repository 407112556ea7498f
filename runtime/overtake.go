package idem

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/outage"
)

// overtakePause is how often a transaction that waits is looked at.
const overtakePause = 200 * time.Millisecond

// overtaking runs wait, which waits for another transaction's row of the ledger. A client
// that stopped in the middle of sending, or of reading, holds its locks for ever, so that
// its backend is ended meanwhile. It had not committed, and never will.
func (o *owner) overtaking(ctx context.Context, conn *pgxpool.Conn, wait func() error) error {
	var pid int32
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		if err := o.overtake(watching, pid); err != nil && watching.Err() == nil {
			o.c.log.Warn("a stalled transaction cannot be looked for", "topic", o.id.Topic, "partition", o.id.Number, "err", describe(err))
		}
	})
	err := wait()
	cancel()
	done.Wait()
	return err
}

// sendOvertaking sends the append alone first, and ends what it waits for. What comes behind
// it may wait for another partition's handler, which works, and is not to be ended.
func (o *owner) sendOvertaking(ctx context.Context, conn *pgxpool.Conn, w *work, a *attempt) (written time.Time, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return written, err
	}
	err = o.overtaking(ctx, conn, func() error {
		p := newPipeline(ctx, conn.Conn())
		p.add(o.appendStatement(a.row))
		r, err := p.run()
		written = r.written()
		return err
	})
	if err == nil {
		x := o.explicit(conn.Conn(), tx, w, a, o.claimStatements(w))
		x.written = written
		_, err = x.run(ctx)
	}
	if err != nil {
		abandon(ctx, conn.Conn())
	}
	return written, err
}

// overtake ends what pid waits for, again and again until ctx ends. Its connection is none
// of the pool's, all of which may be waiting.
func (o *owner) overtake(ctx context.Context, pid int32) error {
	control, err := o.c.connectBeside(ctx, nil)
	if err != nil {
		return &outage.Unreachable{Err: err}
	}
	defer control.Close(context.WithoutCancel(ctx))
	for {
		rows, err := control.Query(ctx, overtakeSQL, pid)
		if err != nil {
			return err
		}
		var other int32
		var ended bool
		if _, err := pgx.ForEachRow(rows, []any{&other, &ended}, func() error {
			o.c.log.Warn("a transaction whose client had stopped was ended", "topic", o.id.Topic, "partition", o.id.Number, "backend", other, "ended", ended)
			return nil
		}); err != nil {
			return err
		}
		if !sleep(ctx, overtakePause) {
			return nil
		}
	}
}
