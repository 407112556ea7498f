package engine_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

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
			db := rig.Database(t)
			rig.Trigger(t, db, `IF NEW.id = 1 THEN RAISE EXCEPTION 'no' USING `+using+`; END IF`)
			w := rig.Own(t, rig.Service{}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "k: put 1 1", "put 2 2"))
			rig.Want(t, "dead letters", rig.Letters(t, db), "0 database")
			rig.Want(t, "rows", rig.Table(t, db), "2=2")
		})
	}
}

// So is one that waits until the end of the transaction.
func TestDeferredTriggerThatImitatesTheLedgerIsTheRecordsFault(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
RAISE EXCEPTION 'no' USING ERRCODE = '23502', TABLE = 'idem_ledger', COLUMN = 'prev'; END $$;
CREATE CONSTRAINT TRIGGER judge AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id = 1) EXECUTE FUNCTION judge()`)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 1", "put 2 2"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 database")
	rig.Want(t, "rows", rig.Table(t, db), "2=2")
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
			db := rig.Database(t)
			rig.Trigger(t, db, `IF NEW.id IN (2, 4) THEN `+refuse+`; END IF`)
			w := rig.Own(t, rig.Service{Handle: insert}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "put 1 1", "put 2 2", "put 3 3"))
			rig.Apply(t, w, rig.Records(3, "call 4"))
			rig.Want(t, "dead letters", rig.Letters(t, db), "1 database, 3 handler")
			rig.Want(t, "rows", rig.Table(t, db), "1=1 3=3")
		})
	}
}

// A message that a trigger makes up may quote the row, whichever SQLSTATE it names: neither
// the error, nor the log, nor Health may show it. A handler may pass it on as it is.
func TestMessageOfATriggerIsNotQuoted(t *testing.T) {
	rig.Lengthy(t)
	for _, code := range []string{"MY001", "42501", "28000", "53100", "57014", "XX000", "P0001"} {
		for _, verb := range []string{"put", "call"} {
			t.Run(code+" "+verb, func(t *testing.T) {
				db := rig.Database(t)
				rig.Trigger(t, db, `RAISE EXCEPTION 'row % of 777777 is bad', NEW USING ERRCODE = '`+code+`'`)
				log := &transcript.Buffer{}
				c := rig.Service{
					Options: []idem.Option{idem.WithLogger(slog.New(slog.NewTextHandler(log, nil)))},
					Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
						_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
						return err
					},
				}.Consumer(t, db)
				text := ""
				if _, err := rig.Own(t, c).Apply(t.Context(), rig.Records(0, verb+" 1 7")); err != nil {
					text = err.Error()
				}
				if err := c.Health().Err(); err != nil {
					text += err.Error()
				}
				text += log.String() + rig.Query(t, db, `SELECT coalesce(string_agg(reason, ' '), '') FROM idem_dead_letter`)
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

// A function that raises the SQLSTATE of a conflict between transactions may mean the record,
// which is retried as often as on_failure says, and then it is a dead letter. An SQLSTATE of
// the server's resources is retried without end, and the reason names the record.
func TestFunctionThatRaisesAConflictIsRetriedThenGivenUp(t *testing.T) {
	t.Parallel()
	insert := func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
		return err
	}
	const deferred = `; CREATE CONSTRAINT TRIGGER later AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id = 3) EXECUTE FUNCTION judge()`
	for code, bounded := range map[string]bool{"40001": true, "40P01": true, "55P03": true, "53400": false, "53200": false} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			idemtest.Exec(t, db, `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = '`+code+`'; END $$;
CREATE TRIGGER judge BEFORE INSERT ON t FOR EACH ROW WHEN (NEW.id IN (2, 4)) EXECUTE FUNCTION judge()`+deferred)
			c := rig.Service{Policy: rig.Impatient, Handle: insert}.Consumer(t, db)
			if bounded {
				if err := rig.NewSource(rig.Records(0, "put 1 1", "put 2 2", "put 3 3", "call 4", "call 5")).Consume(t, c); err != nil {
					t.Fatal(err)
				}
				rig.Want(t, "dead letters", rig.Letters(t, db), "1 database, 2 database, 3 handler")
				rig.Want(t, "rows", rig.Table(t, db), "1=1 5=1")
				rig.Want(t, "reasons that name the function", rig.Query(t, db, `SELECT count(*)::text FROM idem_dead_letter
					WHERE reason ~ ': raised by a function as .*SQLSTATE `+code+`, function judge'`), "3")
				return
			}
			w := rig.Own(t, c)
			for text, names := range map[string]string{"k: put 2 2": "event Test, offset 0: raised by a function", "call 4": "handler Test, offset 0: raised by a function"} {
				for range 2 * (rig.Impatient.Retries + 1) {
					if _, err := w.Apply(t.Context(), rig.Records(0, text)); err == nil || !strings.Contains(err.Error(), names) {
						t.Fatalf("%s: got %v, want %s", text, err, names)
					}
				}
			}
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
		})
	}
}
