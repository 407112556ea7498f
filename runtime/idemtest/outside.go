package idemtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// rolledBack lets the transaction of each handled record end before it commits. Nothing of it may
// be left. Then it is applied.
func rolledBack(b *trial) {
	b.inexact = true
	b.calls = newCalls() // so that what handlers queue is sent
	owners := b.owners()
	for _, r := range b.log {
		m := b.at(r, r.message.Partition, r.message.Offset)
		if r.handled != "" {
			w := owners.writer(partitionOf(m))
			b.stopAt(w, []idem.Message{m}, func(step string) bool { return step == fault.BeforeCommit }, 1)
		}
		owners.deliver([]idem.Message{m})
	}
}

// leavesNothing fails if records change rows although nothing of them is applied: it calls apply,
// after which either the position is the same or the one record is a dead letter.
func (b *trial) leavesNothing(of []record, apply func()) {
	b.t.Helper()
	names := handlersOf(of)
	if len(names) == 0 || !b.handlers && !b.ofCase {
		apply()
		return
	}
	before, from := b.contents(), b.position()
	apply()
	if b.position() != from && (len(of) > 1 || b.deadLetters()[placeOf(of[0].message)].class == "") {
		return
	}
	after := b.contents()
	for _, table := range slices.Sorted(maps.Keys(after)) {
		if before[table] != after[table] {
			b.t.Fatalf("the handler of %s wrote table %s outside tx: its transaction was rolled back, but rows have changed. "+
				"Writes through tx commit with the event, or not at all", strings.Join(names, " or "), table)
		}
	}
}

// handlersOf are the handlers that records call, and where they are; none if one of them has an
// effect, which runs outside of the transaction on purpose.
func handlersOf(of []record) (names []string) {
	for _, r := range of {
		if r.effect != "" {
			return nil
		}
		if r.handled != "" {
			names = append(names, r.handled+sources().handler(r.handled))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// aLongTime is after how long a batch is suspected of waiting for itself.
const aLongTime = time.Second

// lookForLocks looks, if a batch takes long, for a statement that waits for a transaction in which
// nothing runs. If a handler writes through tx and then beside it, its second statement waits for
// the first one, and ends only with its time.
func (b *trial) lookForLocks() (quick func() bool) {
	return time.AfterFunc(aLongTime, func() {
		const waits = `
SELECT EXISTS (SELECT FROM pg_stat_activity w, unnest(pg_blocking_pids(w.pid)) AS by JOIN pg_stat_activity h ON h.pid = by
    WHERE w.datname = current_database() AND h.state = 'idle in transaction')`
		var found bool
		if err := b.db.QueryRow(context.Background(), waits).Scan(&found); err == nil && found { // the test may be over
			b.blocked.Store(true)
		}
	}).Stop
}

// likelyCause says what to do about the error of a batch; "" if that is not known.
func (b *trial) likelyCause(err error) string {
	if b.blocked.Load() {
		return "\nlikely cause: a handler wrote outside tx: on another connection it waits for the rows that its own transaction has changed"
	}
	return cmp.Or(notWritten(err), misfit(err))
}

// misfit says what to do about the error of a statement that names a table or column that the
// database does not have; "" for another error.
func misfit(err error) string {
	const undefinedTable, undefinedColumn = "42P01", "42703"
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pg.Code != undefinedTable && pg.Code != undefinedColumn {
		return ""
	}
	switch outbox := strings.Contains(err.Error(), `"idem_outbox"`); {
	case outbox && pg.Code == undefinedTable:
		return "\nlikely cause: no migration creates idem_outbox: write the SQL that idemgen outbox migration prints into a migration of your own"
	case outbox:
		return "\nlikely cause: each header of an event needs a column: ALTER TABLE idem_outbox ADD COLUMN ... text, in a migration of your own"
	}
	return "\nlikely cause: the SQL does not fit the tables that the migrations make: correct its names, or add the table or column to the spec or to a migration"
}

// inTest returns an error without the commands of operators, which help nobody here: the database
// is the test's.
func inTest(err error) error {
	halted, ok := err.(*idem.HaltedError)
	if !ok {
		return err
	}
	bare := *halted
	bare.Ways = nil
	return &bare
}

// contents are the tables of the database and what each of them holds.
func (d database) contents() map[string]string {
	d.t.Helper()
	held, err := contents(d.t.Context(), d.db)
	if err != nil {
		d.t.Fatalf("idemtest: read the tables: %v", err)
	}
	return held
}

// querier is a pool, or a handler's transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// contents returns the tables that db sees and what each of them holds, as a number; those of the
// runtime aside.
func contents(ctx context.Context, db querier) (map[string]string, error) {
	texts := func(sql string) ([]string, error) {
		rows, err := db.Query(ctx, sql)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[string])
	}
	names, err := texts(`
SELECT c.oid::regclass::text FROM pg_catalog.pg_class c
WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND c.relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  AND (c.relname !~ '^idem(test)?_' OR c.relname = 'idem_outbox')`)
	out := map[string]string{}
	if len(names) == 0 || err != nil {
		return out, err
	}
	var each []string
	for i, name := range names { // a column may have any name, also that of the alias
		each = append(each, fmt.Sprintf(`SELECT concat(%d, ' ', count(*), ' ', sum(hashtextextended((t.*)::text, 0)::numeric)) FROM %s t`, i, name))
	}
	held, err := texts(strings.Join(each, "\nUNION ALL "))
	for _, one := range held {
		number, sum, _ := strings.Cut(one, " ")
		if i, err := strconv.Atoi(number); err == nil {
			out[names[i]] = sum
		}
	}
	return out, err
}

// position is where all partitions are.
func (d database) position() string {
	d.t.Helper()
	return strings.Join(d.texts(`SELECT format('%s %s', stream, max(next)) FROM idem_ledger GROUP BY stream ORDER BY stream`), ", ")
}
