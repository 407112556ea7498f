package engine

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// overtakePause is the time between two searches for stalled transactions.
const overtakePause = 200 * time.Millisecond

// overtakeSQL terminates the transactions that a backend ($1) waits for and whose clients have
// stopped while sending or reading. It terminates only idemgen's own transactions, of the same
// role, that began some time ago. It never terminates one that waits for a standby, or that holds
// a lock on a relation (a migration).
const overtakeSQL = `
SELECT pid, pg_terminate_backend(pid, 1000) FROM pg_stat_activity
WHERE pid = ANY (pg_blocking_pids($1)) AND usename = current_user AND application_name = 'idemgen' AND wait_event IN ('ClientRead', 'ClientWrite')
  AND xact_start < clock_timestamp() - interval '5 seconds'
  AND EXISTS (SELECT FROM pg_locks w WHERE w.pid = $1 AND NOT w.granted AND w.locktype = 'transactionid')`

// overtaking runs wait, which waits for another transaction's row of the ledger. Meanwhile it
// terminates the other transaction if its client has stopped while sending or reading, because it
// would hold its locks forever. That transaction has not committed, and never will.
func (s *Process) overtaking(ctx context.Context, conn *pgxpool.Conn, id idemtype.Partition, wait func() error) error {
	var pid int32
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		return err
	}
	searching, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		if err := s.overtake(searching, pid, id); err != nil && searching.Err() == nil {
			s.Log.Warn("stalled transactions cannot be searched for", "topic", id.Topic, "partition", id.Number, "err", verdict.Describe(err))
		}
	})
	err := wait()
	cancel()
	done.Wait()
	return err
}

// overtaking sends the append alone first, and terminates the transaction that it waits for. The
// statements after the append may wait for another partition's handler, which must not be
// terminated.
func (t *transaction) overtaking(ctx context.Context, d *decide.Decision, a *chain.Attempt) (acked chain.Committed, err error) {
	var appended chain.Stamp
	o, conn := t.o, t.conn.Conn()
	err = o.p.process.overtaking(ctx, t.conn, o.p.id, func() error {
		p := pipeline.New(ctx, conn)
		p.Add(chain.Begin()...)
		p.Add(o.chain.Append(a.Row))
		r, err := p.Run()
		appended = chain.Appended(r)
		return err
	})
	if err == nil {
		x := t.explicit(d, a, d.Known.Claim(d.Claims)...)
		x.began, x.appended = true, appended
		acked, err = x.run(ctx)
	}
	if err != nil {
		pool.Abandon(ctx, conn)
	}
	return acked, err
}

// overtake terminates the stalled transactions that pid waits for, until ctx is done. Its
// connection is not from the pool, in which all connections may be waiting.
func (s *Process) overtake(ctx context.Context, pid int32, id idemtype.Partition) error {
	control, err := s.Pool.Connect(ctx)
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
			s.Log.Warn("a transaction whose client had stopped was terminated", "topic", id.Topic, "partition", id.Number, "backend", other, "ended", ended)
			return nil
		}); err != nil {
			return err
		}
		if !backoff.Sleep(ctx, overtakePause) {
			return nil
		}
	}
}
