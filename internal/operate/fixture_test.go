package operate_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

const (
	oldID = "00000000-0000-4000-8000-000000000001"
	newID = "00000000-0000-4000-8000-000000000002"
)

var (
	orders = operate.Name{Consumer: "projector", Topic: "orders.v1", Partition: 0}
	ann    = operate.By{Operator: "ann", Reason: "a test"}
)

// database returns a database with the runtime's tables.
func database(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return idemtest.Migrated(t, filepath.Join("..", "..", "templates", "sql"))
}

// worker appends as the worker of a partition does, without records.
type worker struct {
	t      testing.TB
	db     *pgxpool.Pool
	stream int32
	tail   ledger.Tail
	tokens byte
}

// begin makes a chain that starts at offset 10, written with identity 3 when the topic
// had 4 partitions.
func begin(t testing.TB, db *pgxpool.Pool, n operate.Name, id string) *worker {
	t.Helper()
	w := &worker{t: t, db: db, tail: ledger.Tail{Next: 10, Kind: ledger.Genesis, Epoch: -1, Def: 3, Parts: 4}}
	w.tail.Token[0] = 255
	err := db.QueryRow(t.Context(), ledger.GenesisSQL, n.Consumer, n.Topic, id, n.Partition, w.tail.Token, w.tail.Next, w.tail.Def, w.tail.Parts, "host, process 1", "w").
		Scan(&w.stream)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// try appends a batch of n records after the row that the worker knows as the last one.
func (w *worker) try(n int64) error {
	w.tokens++
	row := ledger.Row{Kind: ledger.Batch, Next: w.tail.Next + n, Epoch: 7}
	row.Token[0], row.Token[1] = w.tokens, byte(w.tail.Seq)
	conn, err := w.db.Acquire(w.t.Context())
	if err != nil {
		return err
	}
	defer conn.Release()
	params := ledger.Append(w.stream, w.tail, row)
	formats := make([]int16, len(params))
	for i := range formats {
		formats[i] = pgx.BinaryFormatCode
	}
	if err := conn.Conn().PgConn().ExecParams(w.t.Context(), ledger.AppendSQL, params, nil, formats, nil).Read().Err; err != nil {
		return err
	}
	w.tail.Seq, w.tail.Token, w.tail.Next, w.tail.Kind, w.tail.Epoch = w.tail.Seq+1, row.Token, row.Next, row.Kind, row.Epoch
	return nil
}

func (w *worker) batch(n int64) {
	w.t.Helper()
	if err := w.try(n); err != nil {
		w.t.Fatal(err)
	}
}

// chain is a stream's rows as "kind prev>next def parts", in order.
func chain(t testing.TB, db *pgxpool.Pool, id int32) string {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT format('%s%s %s>%s %s %s', seq, kind, prev, next, def, parts) FROM idem_ledger WHERE stream = $1 ORDER BY seq`, id)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, ", ")
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// refused fails the test unless err says want.
func refused(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}
