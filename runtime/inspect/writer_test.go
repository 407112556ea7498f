package inspect_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/inspect"
)

// batchSQL appends a row to the ledger of chainSQL, and writes a row of a table in its
// transaction.
const batchSQL = `
BEGIN;
INSERT INTO idem_ledger SELECT stream, seq + 1, gen_random_uuid(), next, next + 1, 'b', -1, 3, 1, 0, now(), NULL, NULL, NULL FROM idem_ledger ORDER BY seq DESC LIMIT 1;
INSERT INTO "Odd Table" SELECT max(seq), 'batch' FROM idem_ledger;
COMMIT`

const oddSQL = `CREATE TABLE "Odd Table" ("Id" bigint PRIMARY KEY, note text, "a""b" integer DEFAULT 7)`

func why(t *testing.T, db *pgxpool.Pool, id string) *inspect.Writer {
	t.Helper()
	w, err := inspect.Why(t.Context(), db, `"Odd Table"`, []inspect.Column{{Name: "Id", Value: id}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWhyFindsTheBatchOfARow(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, oddSQL)
	for range 9 { // rows 8 to 16
		idemtest.Exec(t, db, batchSQL)
		idemtest.Exec(t, db, `INSERT INTO "Odd Table" SELECT -max(seq), 'between' FROM idem_ledger`)
	}
	for id, seq := range map[string]int64{"8": 8, "11": 11, "16": 16} {
		w := why(t, db, id)
		if w.Row == nil || w.Row.Seq != seq || w.Row.To-w.Row.From != 1 {
			t.Errorf("row %s: %+v", id, w)
		}
	}
	for _, id := range []string{"-8", "-16"} {
		w := why(t, db, id)
		want(t, "a ledger's row of what somebody else wrote", w.Row, nil)
		says(t, w.Because, "somebody else wrote it")
	}
	idemtest.Exec(t, db, `UPDATE "Odd Table" SET note = 'mine' WHERE "Id" = 11`)
	want(t, "a ledger's row of what somebody changed since", why(t, db, "11").Row, nil)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE seq < 12`)
	says(t, why(t, db, "9").Because, "its row was removed: the ledger of orders.v1/0 goes back to")
	idemtest.Exec(t, db, `VACUUM FREEZE "Odd Table"`)
	idemtest.Exec(t, db, `SELECT pg_current_xact_id(); `)
	idemtest.Exec(t, db, `VACUUM FREEZE "Odd Table"`)
	says(t, why(t, db, "12").Because, "by ledger row 12", "the row is frozen")
	says(t, why(t, db, "9").Because, "no ledger has a row of it", "the row is frozen")
}

// A row of the ledger that settles a dead letter covers no offset: its info has the letter's.
func TestWhyNamesTheLetterThatWasReplayed(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, oddSQL+`; BEGIN;
INSERT INTO idem_ledger SELECT stream, 8, gen_random_uuid(), next, next, 'l', -1, 3, 1, 0, now(), NULL, 'replayed offset 12 for ann: see offset 7 for more', NULL FROM idem_ledger WHERE seq = 7;
INSERT INTO "Odd Table" VALUES (1, 'letter'); COMMIT`)
	w := why(t, db, "1")
	if w.Row == nil || w.Row.Letter == nil || *w.Row.Letter != 12 {
		t.Fatalf("%+v", w)
	}
	want(t, "offsets", w.Row.Span(), "offset 12, a dead letter that was replayed")
	says(t, w.Because, "by ledger row 8", "replayed offset 12 for ann: see offset 7 for more")
}

func TestWhyTakesNamesAsSQLHasThem(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, oddSQL+`; INSERT INTO "Odd Table" VALUES (1, 'a'), (2, 'a'); CREATE VIEW shown AS SELECT * FROM "Odd Table"`)
	for _, c := range []struct{ table, column, value, says string }{
		{"Odd Table", "Id", "1", "there is no table Odd Table in the database; names are written as in SQL"},
		{"odd", "id", "1", "there is no table odd in the database"},
		{`idem_stream; DROP TABLE "Odd Table"`, "id", "1", "there is no table idem_stream; DROP"},
		{"shown", "Id", "1", "shown is no table"},
		{`public."Odd Table"`, `Id" = 1 OR 1=1; --`, "1", `it has "Id", note, "a""b"`},
		{`"Odd Table"`, "id", "1", `it has "Id", note, "a""b"`},
		{`"Odd Table"`, "xmin", "1", `it has "Id", note, "a""b"`},
		{`"Odd Table"`, "Id", "1'; --", "does not fit the type of its column"},
		{`"Odd Table"`, "Id", "3", "has no such row"},
		{`"Odd Table"`, "note", "a", `by its primary key, "Id"`},
	} {
		_, err := inspect.Why(t.Context(), db, c.table, []inspect.Column{{Name: c.column, Value: c.value}})
		refused(t, err, c.says)
	}
	quoted := []inspect.Column{{Name: `a"b`, Value: "7"}, {Name: "Id", Value: "2"}}
	if _, err := inspect.Why(t.Context(), db, `"Odd Table"`, quoted); err != nil {
		t.Error(err)
	}
	if w := why(t, db, "2"); w.Table != `"Odd Table"` {
		t.Error(w.Table)
	}
}

// What stands behind a savepoint has a transaction's number of its own. The times of commits tell
// which row of the ledger it belongs to.
func TestWhyFindsWhatWasWrittenBehindASavepoint(t *testing.T) {
	server, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{Conf: map[string]string{"track_commit_timestamp": "on", "fsync": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	db, err := pgxpool.New(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	runtimeTables(t, db)
	idemtest.Exec(t, db, chainSQL+oddSQL)
	err = pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `INSERT INTO idem_ledger SELECT stream, 8, gen_random_uuid(), 14, 15, 'b', -1, 3, 1, 0, now(), NULL, NULL, NULL FROM idem_ledger WHERE seq = 7`); err != nil {
			return err
		}
		return pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(context.WithoutCancel(t.Context()), `INSERT INTO "Odd Table" VALUES (1, 'behind')`)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, `INSERT INTO "Odd Table" VALUES (2, 'alone')`)
	if w := why(t, db, "1"); w.Row == nil || w.Row.Seq != 8 || w.CommittedAt == nil {
		t.Errorf("%+v", w)
	}
	if w := why(t, db, "2"); w.Row != nil || w.CommittedAt == nil {
		t.Errorf("%+v", w)
	}
}
