package inspect

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/stream"
)

// Column is a column of a row, and the text of its value.
type Column struct {
	Name, Value string
}

// Writer is who wrote a row of a table last.
type Writer struct {
	Table       string     `json:"table"`       // as SQL names it
	Transaction string     `json:"transaction"` // Postgres' number of the transaction (xmin)
	CommittedAt *time.Time `json:"committed_at"`
	Row         *Row       `json:"row"`     // of the ledger, in the same transaction; nil if there is none
	Because     string     `json:"because"` // a sentence
}

const (
	tableSQL = `
SELECT c.oid::regclass::text, c.relkind, current_setting('track_commit_timestamp') = 'on',
       (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
       coalesce((SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY array_position(i.indkey::int2[], a.attnum)) FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int2[]) WHERE i.indrelid = c.oid AND i.indisprimary), '')
FROM pg_class c WHERE c.oid = to_regclass($1::text)`

	columnSQL = `
SELECT quote_ident(attname), atttypid::regtype::text FROM pg_attribute
WHERE attrelid = to_regclass($1::text) AND attname = $2::name AND attnum > 0 AND NOT attisdropped`

	committedSQL = `SELECT pg_xact_commit_timestamp($1::text::xid)`
)

// table is what is known of a table before its row is read. All texts are as SQL quotes them.
type table struct {
	name, columns, key string
	kind               byte
	timed              bool // the server keeps the times of commits
}

// Why finds the row of a ledger whose transaction wrote a row of a table last. key must name one
// row. The table's name is as SQL has it.
func Why(ctx context.Context, db stream.DB, name string, key []Column) (*Writer, error) {
	var t table
	err := db.QueryRow(ctx, tableSQL, pgx.QueryExecModeExec, name).Scan(&t.name, &t.kind, &t.timed, &t.columns, &t.key)
	switch pg, _ := errors.AsType[*pgconn.PgError](err); {
	case errors.Is(err, pgx.ErrNoRows), pg != nil && pg.Code == "42602": // before 18, an error
		return nil, fmt.Errorf("there is no table %s in the database; names are written as in SQL, with their schema where the search_path lacks it", name)
	case err != nil:
		return nil, stream.Explain(err)
	case t.kind != 'r' && t.kind != 'p':
		return nil, fmt.Errorf("%s is no table: only a table's rows tell who wrote them", t.name)
	}
	v, err := t.version(ctx, db, name, key)
	if err != nil {
		return nil, err
	}
	w := &Writer{Table: t.name, Transaction: strconv.FormatUint(uint64(v.transaction), 10)}
	return w, w.find(ctx, db, &t, v)
}

// version is the state of a row: which transaction wrote it, and which ones are frozen: all before
// another.
type version struct {
	transaction, frozen uint32
}

// isFrozen reports whether the transaction's number tells nothing by itself any more.
func (v version) isFrozen() bool { return int32(v.transaction-v.frozen) < 0 }

// firstXID is the first number that an ordinary transaction has.
const firstXID = 3

// version reads the one row that key names.
func (t *table) version(ctx context.Context, db stream.DB, name string, key []Column) (v version, err error) {
	var where []string
	args := []any{pgx.QueryExecModeExec}
	for _, c := range key {
		var column, kind string
		err := db.QueryRow(ctx, columnSQL, pgx.QueryExecModeExec, name, c.Name).Scan(&column, &kind)
		if errors.Is(err, pgx.ErrNoRows) {
			return v, fmt.Errorf("%s has no column %s; it has %s", t.name, c.Name, t.columns)
		}
		if err != nil {
			return v, stream.Explain(err)
		}
		args = append(args, c.Value)
		where = append(where, fmt.Sprintf("t.%s = $%d::text::%s", column, len(args)-1, kind))
	}
	rows, err := db.Query(ctx, `SELECT t.xmin::text::bigint, c.relfrozenxid::text::bigint FROM `+t.name+` t JOIN pg_class c ON c.oid = t.tableoid WHERE `+
		strings.Join(where, " AND ")+` LIMIT 2`, args...)
	if err != nil {
		return v, stream.Explain(err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v version, err error) {
		var transaction, frozen int64
		err = row.Scan(&transaction, &frozen)
		return version{uint32(transaction), uint32(frozen)}, err
	})
	if pg, _ := errors.AsType[*pgconn.PgError](err); pg != nil && strings.HasPrefix(pg.Code, "22") {
		return v, fmt.Errorf("a value does not fit the type of its column in %s: SQLSTATE %s", t.name, pg.Code)
	}
	switch {
	case err != nil:
		return v, stream.Explain(err)
	case len(found) == 0:
		return v, fmt.Errorf("%s has no such row: one that was deleted tells nothing any more", t.name)
	case len(found) > 1:
		return v, fmt.Errorf("%s has several such rows: name one by its primary key, %s", t.name, t.key)
	}
	return found[0], nil
}

// find looks for the row of a ledger with the transaction.
func (w *Writer) find(ctx context.Context, db stream.DB, t *table, v version) error {
	if v.transaction < firstXID {
		w.Because = "the row is frozen: it was written so long ago, or restored from a dump, that no transaction is known of it"
		return nil
	}
	if t.timed && !v.isFrozen() {
		if err := db.QueryRow(ctx, committedSQL, pgx.QueryExecModeExec, w.Transaction).Scan(&w.CommittedAt); err != nil {
			return stream.Explain(err)
		}
	}
	all, err := stream.List(ctx, db, "")
	if err != nil {
		return err
	}
	for i := range all {
		row, err := w.in(ctx, db, &all[i], v.transaction)
		if err != nil {
			return err
		}
		if row != nil {
			w.Row = row
			w.Because = fmt.Sprintf("by ledger row %d, at %s", row.Seq, row.WrittenAt.Format(time.RFC3339))
			if row.Letter != nil {
				w.Because += ": " + row.Info // who decided, and why
			}
			if v.isFrozen() {
				w.Because += "; the row is frozen, and numbers of transactions come again after four billion: make sure that the time can be right"
			}
			return nil
		}
	}
	return w.nobody(ctx, db, all, v)
}

// in finds the transaction's row in one ledger; nil if it is not there. Each row's transaction
// began behind that of the row before, so that it is found by halves.
func (w *Writer) in(ctx context.Context, db stream.DB, of *stream.Status, xid uint32) (*Row, error) {
	var lo, hi int64
	if err := db.QueryRow(ctx, boundsSQL, pgx.QueryExecModeExec, of.Stream).Scan(&lo, &hi); err != nil {
		return nil, stream.Explain(err)
	}
	var last *Row // whose transaction is this one, or before it
	for lo <= hi {
		middle := lo + (hi-lo)/2
		rows, err := readRows(ctx, db, fromSQL, of.Stream, middle)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 || rows[0].Seq > hi {
			hi = middle - 1
			continue
		}
		number, err := strconv.ParseUint(rows[0].Transaction, 10, 32)
		if err != nil {
			return nil, err
		}
		if int32(uint32(number)-xid) > 0 {
			hi = middle - 1
			continue
		}
		last, lo = &rows[0], rows[0].Seq+1
	}
	if last == nil || last.Transaction == w.Transaction {
		return last, nil
	}
	return w.savepoint(ctx, db, last)
}

// savepoint is the row if it was committed together with the transaction: what a handler writes
// behind a savepoint has a number of its own. It needs the times of commits.
func (w *Writer) savepoint(ctx context.Context, db stream.DB, row *Row) (*Row, error) {
	if w.CommittedAt == nil {
		return nil, nil
	}
	var at *time.Time
	err := db.QueryRow(ctx, committedSQL, pgx.QueryExecModeExec, row.Transaction).Scan(&at)
	if err != nil || at == nil || !at.Equal(*w.CommittedAt) {
		return nil, stream.Explain(err)
	}
	return row, nil
}

// nobody says why no row was found.
func (w *Writer) nobody(ctx context.Context, db stream.DB, all []stream.Status, v version) error {
	if v.isFrozen() {
		w.Because = "the row is frozen: it was written so long ago that the number of its transaction tells nothing any more, and no ledger has a row of it"
		return nil
	}
	var oldest *Row
	for i := range all {
		row, err := firstRow(ctx, db, &all[i])
		if err != nil {
			return err
		}
		if row != nil && row.Kind != "genesis" && (oldest == nil || row.WrittenAt.After(oldest.WrittenAt)) {
			oldest = row
		}
	}
	w.Because = "no ledger in this database has a row of that transaction: somebody else wrote it, or a handler behind a savepoint"
	if w.CommittedAt != nil {
		w.Because = "no ledger in this database has a row of that transaction: somebody else wrote it"
	}
	if oldest != nil {
		w.Because += fmt.Sprintf("; or its row was removed: the ledger of %s/%d goes back to %s only", oldest.Topic, oldest.Partition, oldest.WrittenAt.Format(time.RFC3339))
	}
	return nil
}
