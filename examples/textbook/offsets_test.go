package textbook

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// logAndGoOn is a loop that commits the offset behind each record that it processed. One that
// fails is logged, to be read again. It returns what the group has committed: one number.
func logAndGoOn(ctx context.Context, db *pgxpool.Pool, log []idem.Message, committed int64) int64 {
	for _, m := range log[committed:] {
		if err := claimWithEffect(ctx, db, m, nil); err != nil {
			continue // not committed, so does it come again?
		}
		committed = m.Offset + 1
	}
	return committed
}

// outage makes a disk that is full for payments of 7 cents. ends has it work again.
const (
	outage = `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF NEW.cents = 7 OR TG_OP = 'UPDATE' AND NEW.cents - OLD.cents = 7 THEN
		RAISE 'no space left' USING ERRCODE = 'disk_full';
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION full_disk()`
	ends = `DROP TRIGGER full_disk ON accounts`
)

// A record fails because of an outage, and the one behind it does not. The offset behind that one
// passes both.
func TestOffsetCommittedPastAFailure(t *testing.T) {
	t.Parallel()
	log := []idem.Message{received(0, "a", 100), received(1, "b", 7), received(2, "c", 100)}
	db := processed(t)
	idemtest.Exec(t, db, outage)
	committed := logAndGoOn(t.Context(), db, log, 0)
	idemtest.Exec(t, db, ends)
	committed = logAndGoOn(t.Context(), db, log, committed) // the process begins again
	if committed != 3 {
		t.Errorf("the group committed %d, want 3", committed)
	}
	balance(t, db, "log and go on", 200)

	db = idemtest.Migrated(t, "migrations")
	w := waitsOut(t, db, log)
	apply(t, w, idem.Result{Applied: 3}, log...)
	balance(t, db, "generated", 207)
}

// waitsOut has the generated consumer meet an outage, in which it passes no record.
func waitsOut(t *testing.T, db *pgxpool.Pool, log []idem.Message) *idemtest.Writer {
	t.Helper()
	idemtest.Exec(t, db, outage)
	w := own(t, db, payments, 0)
	if res, err := w.Apply(t.Context(), log); err == nil || res != (idem.Result{}) || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("generated, in an outage: %+v, %v", res, err)
	}
	idemtest.Exec(t, db, ends)
	return w
}

// skipPoison passes over what it cannot read, so that it is not read for ever.
func skipPoison(ctx context.Context, db *pgxpool.Pool, m idem.Message) error {
	if !json.Valid(m.Value) {
		return nil
	}
	return claimWithEffect(ctx, db, m, nil)
}

// A record that nobody can read is acknowledged, and forgotten. A dead letter has it byte by byte,
// and one that was only too early is replayed.
func TestPoisonIsAcknowledged(t *testing.T) {
	t.Parallel()
	poison, early := received(1, "b", 100), received(2, "c", -150)
	poison.Value = poison.Value[:20]
	log := []idem.Message{received(0, "a", 100), poison, early, received(3, "d", 100)}
	db := processed(t)
	for _, m := range log[:2] {
		must(t, skipPoison(t.Context(), db, m))
	}
	balance(t, db, "skip poison", 100)
	holds(t, db, "skip poison, what is known", `SELECT string_agg(id, ' ') FROM processed`, "a")

	db = idemtest.Migrated(t, "migrations")
	w := own(t, db, payments, 0)
	apply(t, w, idem.Result{Applied: 2, Dead: 2}, log...)
	balance(t, db, "generated", 200)
	letter := replay(t, db, w, poison)
	stored, err := letter.Stored(t.Context(), db)
	if err != nil || !bytes.Contains(stored.Record, poison.Value) || !letter.Open() || letter.Class != "decode" {
		t.Errorf("generated: %+v, %v; it holds %q", letter, err, stored)
	}
	if letter := replay(t, db, w, early); letter.Open() {
		t.Errorf("generated: not replayed: %s", letter.Request.Answer)
	}
	balance(t, db, "generated, replayed", 50)
	apply(t, w, idem.Result{Duplicates: 1}, moved(early, 0, 4))
}

// replay asks for a dead letter to be replayed, as idemgen dead replay does, and has it done.
func replay(t *testing.T, db *pgxpool.Pool, w *idemtest.Writer, m idem.Message) operate.Letter {
	t.Helper()
	letters, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "textbook", Topic: m.Topic, Offset: m.Offset}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := operate.Ask(t.Context(), db, letters[:1], "replay", nil, operate.By{Operator: "ann", Reason: "mended"}); err != nil {
		t.Fatal(err)
	}
	apply(t, w, idem.Result{})
	if letters, err = operate.Refresh(t.Context(), db, letters[:1]); err != nil {
		t.Fatal(err)
	}
	return letters[0]
}
