package idem_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// trigger has body run before every row that is inserted into t.
func trigger(t testing.TB, db *pgxpool.Pool, body string) {
	t.Helper()
	idemtest.Exec(t, db, `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN `+body+`; RETURN NEW; END $$;
CREATE TRIGGER judge BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION judge()`)
}

// A trigger of the user that raises what the protocol's tables would is the record's fault:
// there is no other owner, and no race that could be won by trying again.
func TestTriggerThatImitatesTheLedgerIsTheRecordsFault(t *testing.T) {
	t.Parallel()
	for name, using := range map[string]string{
		"successor": `ERRCODE = '23505', TABLE = 'idem_ledger', CONSTRAINT = 'idem_ledger_pkey'`,
		"gone":      `ERRCODE = '23502', TABLE = 'idem_ledger', COLUMN = 'prev'`,
		"key race":  `ERRCODE = '23505', TABLE = 'idem_keys_1', CONSTRAINT = 'idem_keys_1_pkey'`,
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			trigger(t, db, `IF NEW.id = 1 THEN RAISE EXCEPTION 'no' USING `+using+`; END IF`)
			w := own(t, service{}.consumer(t, db))
			apply(t, w, records(0, "k: put 1 1", "put 2 2"))
			want(t, "dead letters", letters(t, db), "0 database")
			want(t, "rows", table(t, db), "2=2")
		})
	}
}

// So is one that waits until the end of the transaction.
func TestDeferredTriggerThatImitatesTheLedgerIsTheRecordsFault(t *testing.T) {
	t.Parallel()
	db := database(t)
	idemtest.Exec(t, db, `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
RAISE EXCEPTION 'no' USING ERRCODE = '23502', TABLE = 'idem_ledger', COLUMN = 'prev'; END $$;
CREATE CONSTRAINT TRIGGER judge AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id = 1) EXECUTE FUNCTION judge()`)
	w := own(t, service{}.consumer(t, db))
	apply(t, w, records(0, "put 1 1", "put 2 2"))
	want(t, "dead letters", letters(t, db), "0 database")
	want(t, "rows", table(t, db), "2=2")
}

// What PL/pgSQL refuses a row with is that record's fault, and must not hold its partition
// up for ever: neither in a statement of the batch nor in one of a handler.
func TestRecordThatATriggerRefusesIsADeadLetter(t *testing.T) {
	t.Parallel()
	insert := func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
		return err
	}
	for name, refuse := range map[string]string{
		"check_violation":            `RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'`,
		"check_violation of a table": `RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation', TABLE = 't'`,
		"no row":                     `SELECT id INTO STRICT NEW.id FROM t WHERE false`,
		"two rows":                   `SELECT 1 INTO STRICT NEW.id FROM generate_series(1, 2)`,
		"assertion":                  `ASSERT false`,
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			trigger(t, db, `IF NEW.id IN (2, 4) THEN `+refuse+`; END IF`)
			w := own(t, service{handle: insert}.consumer(t, db))
			apply(t, w, records(0, "put 1 1", "put 2 2", "put 3 3"))
			apply(t, w, records(3, "call 4"))
			want(t, "dead letters", letters(t, db), "1 database, 3 handler")
			want(t, "rows", table(t, db), "1=1 3=3")
		})
	}
}

// A message that a trigger makes up may quote the row, whichever SQLSTATE it names: neither
// the error, nor the log, nor Health may show it. A handler may pass it on as it is.
func TestMessageOfATriggerIsNotQuoted(t *testing.T) {
	lengthy(t)
	for _, code := range []string{"MY001", "42501", "28000", "53100", "57014", "XX000", "P0001"} {
		for _, verb := range []string{"put", "call"} {
			t.Run(code+" "+verb, func(t *testing.T) {
				db := database(t)
				trigger(t, db, `RAISE EXCEPTION 'row % of 777777 is bad', NEW USING ERRCODE = '`+code+`'`)
				log := &transcript.Buffer{}
				c := service{
					options: []idem.Option{idem.WithLogger(slog.New(slog.NewTextHandler(log, nil)))},
					handle: func(ctx context.Context, tx idem.Tx, row int32) error {
						_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
						return err
					},
				}.consumer(t, db)
				text := ""
				if _, err := own(t, c).Apply(t.Context(), records(0, verb+" 1 7")); err != nil {
					text = err.Error()
				}
				if err := c.Health().Err(); err != nil {
					text += err.Error()
				}
				text += log.String() + query(t, db, `SELECT coalesce(string_agg(reason, ' '), '') FROM idem_dead_letter`)
				if !strings.Contains(text, "function judge() line 1") {
					t.Errorf("it names no function:\n%s", text)
				}
				if strings.Contains(text, "777777") || !strings.Contains(text, code) {
					t.Errorf("it quotes the row, or names no SQLSTATE:\n%s", text)
				}
			})
		}
	}
}
