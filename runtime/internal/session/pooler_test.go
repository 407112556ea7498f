//go:build unix

package session_test

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/pgbouncer"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A pooler that hands a session to another client after each transaction, or each statement,
// is found at the start, whichever connection it hands out next: Run says so at once, and
// what helps.
func TestPoolerInTransactionModeIsRefusedAtTheStart(t *testing.T) {
	for name, conf := range map[string]map[string]string{
		"transaction mode":               {"pool_mode": "transaction"},
		"transaction mode, in a circle":  {"pool_mode": "transaction", "server_round_robin": "1"},
		"transaction mode, one server":   {"pool_mode": "transaction", "default_pool_size": "1"},
		"transaction mode, two servers":  {"pool_mode": "transaction", "default_pool_size": "2", "server_round_robin": "1"},
		"transaction mode, reset always": {"pool_mode": "transaction", "server_reset_query_always": "1"},
		"statement mode":                 {"pool_mode": "statement"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			c := rig.Service{}.Consumer(t, pgbouncer.Start(t, db, conf).Pool(nil))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := c.Run(ctx, rig.NewSource(rig.Records(0, "put 1 1")))
			if err == nil || ctx.Err() != nil {
				t.Fatalf("got %v within %v, want an error", err, ctx.Err())
			}
			for _, says := range []string{"connection pooler in transaction or statement mode", "pool_mode = session"} {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("the error lacks %q: %v", says, err)
				}
			}
			rig.Want(t, "rows", rig.Table(t, db), "")
		})
	}
}

// putting is a plan that writes "put row number" with one statement.
type putting struct {
	sql  string
	rows wire.Rows
}

func (p *putting) Add(_ *wire.Batch, m *wire.Message) error {
	words := strings.Fields(string(m.Value))
	r := p.rows.Row()
	for _, w := range words[1:] {
		n, err := strconv.ParseInt(w, 10, 32)
		if err != nil {
			return err
		}
		r.Int4(int32(n))
	}
	return nil
}

func (p *putting) Flush(b *wire.Batch) { b.Write(p.sql, &p.rows) }

// writing is a service that writes with one statement.
func writing(consumer, sql string) rig.Service {
	return rig.Service{Edit: func(s *wire.Service) {
		s.Consumer = consumer
		s.Topics[0].NewPlan = func() wire.Plan { return &putting{sql: sql} }
	}}
}

// Two services behind a pooler that goes over to transaction mode while they work: who is handed
// the other's connection halts with code pooler, and no row of one is ever in the other's
// table. The second service has other statements, or the same ones, which mean another table.
func TestPoolerNeverMixesTables(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(rig.UpsertSQL, "INTO t ", "INTO u ")
	for name, second := range map[string]struct {
		sql, table string
		hook       string
	}{
		"other statements": {other, "u", "SELECT"},
		"same statements":  {rig.UpsertSQL, "elsewhere.t", "SET search_path = elsewhere, public"},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			idemtest.Exec(t, db, `CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.t (LIKE t INCLUDING ALL); CREATE TABLE u (LIKE t INCLUDING ALL)`)
			pooler := pgbouncer.Start(t, db, map[string]string{"pool_mode": "session"})
			a := rig.Own(t, writing("a", rig.UpsertSQL).Consumer(t, pooler.Pool(nil)))
			b := rig.Own(t, writing("b", second.sql).Consumer(t, pooler.Pool(func(cfg *pgxpool.Config) {
				cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
					_, err := conn.Exec(ctx, second.hook)
					return err
				}
			})))
			rig.Apply(t, a, rig.Records(0, "put 1 1"))
			rig.Apply(t, b, rig.Records(0, "put 2 2"))
			pooler.Reload(map[string]string{"pool_mode": "transaction"})
			halted := map[string]bool{}
			for next := int64(1); next < 10 && len(halted) == 0; next++ {
				for name, w := range map[string]*rig.Writer{"a": a, "b": b} {
					_, err := w.Apply(t.Context(), rig.Records(next, map[string]string{"a": "put 1 1", "b": "put 2 2"}[name]))
					if h, ok := errors.AsType[*idem.HaltedError](err); ok {
						rig.Want(t, "code", h.Code, halt.Pooler)
						halted[name] = true
					} else if err != nil {
						t.Fatal(err)
					}
				}
			}
			if len(halted) == 0 { // who goes on alone has its own connection
				t.Error("neither was handed the other's connection")
			}
			rig.Want(t, "rows of the first", rig.Table(t, db), "1=1")
			rig.Want(t, "rows of the second", rig.Query(t, db, `SELECT string_agg(id || '=' || v, ' ') FROM `+second.table), "2=2")
		})
	}
}

// A pooler in session mode does no harm, with nothing allowed to it beforehand and whatever
// defaults the database has: batches with keys and handlers work, and the settings are the
// runtime's.
func TestPoolerInSessionModeWorks(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	for _, other := range []string{"default_transaction_isolation = 'serializable'", "synchronous_commit = off", "search_path = pg_catalog"} {
		idemtest.Exec(t, db, `ALTER DATABASE `+pgx.Identifier{db.Config().ConnConfig.Database}.Sanitize()+` SET `+other)
	}
	pooler := pgbouncer.Start(t, db, map[string]string{"pool_mode": "session", "ignore_startup_parameters": "search_path,options"})
	pool := pooler.Pool(func(cfg *pgxpool.Config) { // which the pooler leaves out
		maps.Copy(cfg.ConnConfig.RuntimeParams, map[string]string{"search_path": "public", "options": `-c work_mem=7MB --idem.test=a\ b`})
	})
	seen := map[string]string{}
	s := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		for _, name := range []string{"default_transaction_isolation", "synchronous_commit", "lock_timeout", "application_name", "client_encoding", "search_path", "work_mem", "idem.test"} {
			var v string
			if err := tx.QueryRow(ctx, `SELECT current_setting($1)`, name).Scan(&v); err != nil {
				return err
			}
			seen[name] = v
		}
		_, err := tx.Exec(ctx, `SET search_path = pg_catalog`)
		return err
	}}
	s.Edit = func(s *wire.Service) { s.Topics[0].Chain = time.Hour }
	src := rig.NewSource(rig.Records(0, "put 1 1", "a: put 2 2", "@b: put 3 3", "call 1", "put 4 4", "a: put 2 2"))
	if err := src.Consume(t, s.Consumer(t, pool)); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "rows", rig.Query(t, db, `SELECT string_agg(id || '=' || v, ' ' ORDER BY id) FROM public.t`), "1=1 2=2 3=3 4=4")
	for name, v := range map[string]string{
		"default_transaction_isolation": "read committed", "synchronous_commit": "on", "lock_timeout": "2500ms", "application_name": "idemgen",
		"client_encoding": "UTF8", "search_path": "public", "work_mem": "7MB", "idem.test": "a b",
	} {
		rig.Want(t, name, seen[name], v)
	}
}

// What a client before left in a session of the pooler, which does not reset it, is none of
// the runtime's.
func TestPoolerWithoutResetLeavesNothing(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.t (LIKE t INCLUDING ALL)`)
	pooler := pgbouncer.Start(t, db, map[string]string{"pool_mode": "session", "server_reset_query": ""})
	for range 2 {
		conns := pooler.Pool(nil).AcquireAllIdle(t.Context())
		for range 4 { // as many as the service will have, and more
			conn, err := pooler.Pool(nil).Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), `SET search_path = elsewhere, public; CREATE TEMP TABLE IF NOT EXISTS t (LIKE public.t INCLUDING ALL)`, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
		}
		for _, conn := range conns {
			if err := conn.Conn().Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			conn.Release()
		}
	}
	c := rig.Service{}.Consumer(t, pooler.Pool(nil))
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "put 1 1"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
}

// A start-up parameter of the connection string that the pooler refuses would be refused for
// ever: Run returns, and says what helps.
func TestParameterThatThePoolerRefusesIsAnError(t *testing.T) {
	t.Parallel()
	pooler := pgbouncer.Start(t, rig.Database(t), map[string]string{"pool_mode": "session"})
	c := rig.Service{}.Consumer(t, pooler.Pool(func(cfg *pgxpool.Config) { cfg.ConnConfig.RuntimeParams["search_path"] = "public" }))
	err := c.Run(t.Context(), rig.NewSource(nil))
	for _, says := range []string{"search_path", "ignore_startup_parameters"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error lacks %q: %v", says, err)
		}
	}
}
