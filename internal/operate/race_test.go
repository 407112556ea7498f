package operate_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
)

// waits returns when a session waits for a lock.
func waits(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		var n int
		if err := db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return
		}
	}
	t.Fatal("nobody waits for a lock")
}

// A worker that appends without a pause does not keep operators out.
func TestCommandGetsInBetweenBatches(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	w.batch(1)
	busy := make(chan error, 1)
	go func() {
		for {
			if err := w.try(1); err != nil {
				busy <- err
				return
			}
		}
	}()
	c, err := operate.Set(t.Context(), db, orders, operate.Target{From: halt.Anywhere, To: 3, ApplyAgain: true}, ann)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, <-busy, "idem_ledger_pkey")
	want(t, "it rewinds from where the worker was", c.From, w.tail.Next)
	rows := strings.Split(chain(t, db, w.stream), ", ")
	if last := rows[len(rows)-1]; !strings.HasSuffix(last, ">3 3 4") || len(rows) != int(w.tail.Seq)+2 {
		t.Errorf("%d rows, the last one %s", len(rows), last)
	}
}

// The row of a worker that is under way goes first; what the operator meant is then judged
// again.
func TestCommandWaitsForTheTransactionUnderWay(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), `INSERT INTO idem_ledger SELECT stream, 1, gen_random_uuid(), next, next + 20, 'b', 'w', 1, def, parts, 0, clock_timestamp(), NULL, NULL FROM idem_ledger`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := operate.Set(t.Context(), db, orders, operate.Target{From: halt.Anywhere, To: 20}, ann)
		done <- err
	}()
	waits(t, db)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused(t, <-done, "is at offset 30 (row 1, batch), and 20 is before it")
	want(t, "chain", chain(t, db, w.stream), "0g 10>10 3 4, 1b 10>30 3 4")
}

// Of several operators that adopt at once, one does.
func TestOnlyOneAdopts(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	for _, id := range []string{newID, oldID} { // a new stream, and one whose rows are gone
		if id == oldID {
			if _, err := db.Exec(t.Context(), `DELETE FROM idem_ledger WHERE stream = $1`, w.stream); err != nil {
				t.Fatal(err)
			}
		}
		n := orders
		n.TopicID = id
		var group sync.WaitGroup
		errs := make(chan error, 4)
		for range 4 {
			group.Go(func() {
				_, err := operate.Set(t.Context(), db, n, operate.Target{From: halt.NoLedger, To: 12, Partitions: 4}, ann)
				errs <- err
			})
		}
		group.Wait()
		close(errs)
		adopted := 0
		for err := range errs {
			if err == nil {
				adopted++
			} else {
				refused(t, err, "has a ledger")
			}
		}
		want(t, "adopted", adopted, 1)
	}
}

// unreliable loses the reply to the first commit, after or instead of it.
type unreliable struct {
	*pgxpool.Pool
	committed bool
	commits   int
}

type unreliableTx struct {
	pgx.Tx
	db *unreliable
}

func (u *unreliable) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	tx, err := u.Pool.BeginTx(ctx, o)
	return unreliableTx{tx, u}, err
}

func (tx unreliableTx) Commit(ctx context.Context) error {
	if tx.db.commits++; tx.db.commits > 1 {
		return tx.Tx.Commit(ctx)
	}
	end := tx.Tx.Rollback
	if tx.db.committed {
		end = tx.Tx.Commit
	}
	if err := end(ctx); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// Whether or not the commit whose reply was lost took place, there is one row in the end.
func TestLostReplyOfACommand(t *testing.T) {
	for _, committed := range []bool{true, false} {
		db := database(t)
		w := begin(t, db, orders, oldID)
		c, err := operate.Set(t.Context(), &unreliable{Pool: db, committed: committed}, orders, operate.Target{From: halt.Anywhere, To: 20}, ann)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "row", c.Seq, 1)
		want(t, "chain", chain(t, db, w.stream), "0g 10>10 3 4, 1s 10>20 3 4")
		n := orders
		n.TopicID = newID
		c, err = operate.Set(t.Context(), &unreliable{Pool: db, committed: committed}, n, operate.Target{From: halt.NoLedger, To: 20}, ann)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "first row", c.Seq, 0)
		list, err := operate.List(t.Context(), db, "")
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		want(t, "new chain", chain(t, db, list[1].Stream), "0g 20>20 0 4")
	}
}
