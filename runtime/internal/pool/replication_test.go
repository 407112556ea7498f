package pool_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// standby says which synchronous standby every commit waits for; "" is none.
func standby(t *testing.T, db *pgxpool.Pool, name string) {
	t.Helper()
	idemtest.Exec(t, db, `ALTER SYSTEM SET synchronous_standby_names = '`+name+`'`)
	idemtest.Exec(t, db, `SELECT pg_reload_conf()`)
	rig.Within(t, "commits wait as the settings say", func() bool { // the checkpointer says so to all
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := db.Exec(ctx, `SELECT pg_logical_emit_message(true, 'test', '')`)
		return (err != nil) == (name != "")
	})
}

const (
	waitingSQL   = `SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
	cancelSQL    = `SELECT count(pg_cancel_backend(pid))::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
	terminateSQL = `SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
)

// endWait ends a commit's wait for its standby by sql, unless it has ended before; first is called
// when one waits.
func endWait(t *testing.T, db *pgxpool.Pool, sql string, ended <-chan struct{}, first func()) {
	t.Helper()
	over := func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}
	rig.Within(t, "a commit waits", func() bool { return over() || rig.Query(t, db, waitingSQL) != "0" })
	first()
	rig.Within(t, "its wait is ended", func() bool { return over() || rig.Query(t, db, sql) != "0" })
}

// A commit whose synchronous standby does not confirm it is not durable, although the server has
// committed: however the wait ends, it is no success, and no effect is called after it.
func TestCommitThatIsNotReplicatedIsNoSuccess(t *testing.T) {
	t.Parallel()
	_, db := rig.OwnServer(t)
	var p rig.Provider
	s := p.Service(rig.Terms)
	s.Handle = rig.AddOne
	s.Edit = func(s *wire.Service) { s.Limits.BatchTimeout = 2 * time.Second }
	proxy, through := cutproxy.Pool(t, db)
	w := rig.Own(t, s.Consumer(t, through))
	rig.Apply(t, w, rig.Records(0, "put 1 10"))
	for _, test := range []struct {
		ends  string // how the wait ends
		sql   string // what ends it, if not the runtime's deadline
		texts []string
		rows  string
	}{
		{"by the deadline of a batch", "", []string{"put 1 1"}, "1=1"},
		{"by the deadline of a batch with a handler", "", []string{"call 1"}, "1=2"},
		{"by a cancellation", cancelSQL, []string{"call 1", "put 2 2"}, "1=3 2=2"},
		{"by the end of a connection that was lost", terminateSQL, []string{"put 1 4"}, "1=4 2=2"},
		{"by a termination", terminateSQL, []string{"put 1 5"}, "1=5 2=2"},
	} {
		t.Run(test.ends, func(t *testing.T) {
			standby(t, db, "nobody")
			defer standby(t, db, "")
			before, batch := w.Next(), rig.Records(w.Next(), test.texts...)
			unconfirmed := func(what, why string) {
				t.Helper()
				_, err := w.Apply(t.Context(), batch)
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("%s: got %v", what, err)
				}
				rig.Want(t, "position", w.Next(), before)
			}
			why := "synchronous standby"
			var all sync.WaitGroup
			first := make(chan struct{})
			if test.sql != "" {
				all.Go(func() {
					endWait(t, db, test.sql, first, func() {
						if strings.Contains(test.ends, "lost") {
							proxy.CutAll()
						}
					})
				})
			}
			if strings.Contains(test.sql, "terminate") {
				why = "" // the connection is lost: nobody knows
			}
			unconfirmed("first", why)
			close(first)
			all.Wait()
			unconfirmed("again", "synchronous standby")
			rig.Want(t, "the server has committed", rig.Query(t, db, `SELECT (max(next) > min(next))::text FROM idem_ledger WHERE seq >= (SELECT max(seq) - 1 FROM idem_ledger)`), "true")
			standby(t, db, "")
			rig.Apply(t, w, batch)
			rig.Want(t, "rows", rig.Table(t, db), test.rows)
		})
	}
	standby(t, db, "nobody")
	defer standby(t, db, "")
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { endWait(t, db, cancelSQL, short.Done(), func() {}) })
	if _, err := w.Apply(short, rig.Records(w.Next(), "effect 7")); err == nil {
		t.Error("an effect is done")
	}
	rig.Want(t, "calls", p.Count(7), 0)
}
