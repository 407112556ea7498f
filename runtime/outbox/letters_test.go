package outbox_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A dead letter is sent once, with its record as it was read and all that is known about it. The
// letter of a tombstone is a tombstone. Applying the migrations again changes nothing.
func TestDeadLetterIsSentWithItsRecord(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	s := newShop(t, db, "shop", policy)
	relay(t, db, broker, func(r *outbox.Runner) { r.Topic = func(string) string { return "events" } })
	s.take(t, "fine", "bad", "-")
	until(t, "all are sent", func() bool { return left(t, db) == "0" })
	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay)+outbox.DeadLetterMigration())
	s.take(t, "bad")
	until(t, "all are sent", func() bool { return left(t, db) == "0" })
	broker.mu.Lock()
	defer broker.mu.Unlock()
	if len(broker.records) != 3 {
		t.Fatalf("%d letters were sent", len(broker.records))
	}
	byOffset := map[string]string{} // letters of different keys have no order
	for _, r := range broker.records {
		var got strings.Builder
		fmt.Fprintf(&got, "%s %q %q %t\n", r.Topic, r.Key, r.Value, r.Value == nil)
		for _, h := range r.Headers {
			value := string(h.Value)
			switch h.Name {
			case "idem.id":
				value = regexp.MustCompile(`[0-9a-f]`).ReplaceAllString(value, "0")
			case "idem.created_at":
				if at, err := time.Parse(time.RFC3339Nano, value); err != nil || time.Since(at).Abs() > time.Hour {
					t.Errorf("created at %s: %v", value, err)
				}
				continue
			}
			fmt.Fprintf(&got, "%s=%q %t\n", h.Name, value, h.Value == nil)
		}
		byOffset[header(r, "idem.offset")] += got.String()
	}
	want(t, "record 1", byOffset["1"], letterText("key 1", `"bad" false`, 1))
	want(t, "record 2", byOffset["2"], letterText("key 2", `"" true`, 2))
	want(t, "record 3", byOffset["3"], letterText("key 3", `"bad" false`, 3))
	if a, b := header(broker.records[0], "idem.id"), header(broker.records[1], "idem.id"); a == b {
		t.Errorf("two letters have one id: %s", a)
	}
}

func letterText(key, value string, offset int) string {
	return fmt.Sprintf(`orders.dead %q %s
tenant="t 1" false
none="" true
idem.id="00000000-0000-0000-0000-000000000000" false
idem.consumer="shop" false
idem.topic="orders.v1" false
idem.topic_id="00000000-0000-0000-0000-000000000000" false
idem.partition="0" false
idem.offset="%d" false
idem.class="decode" false
idem.event="Order" false
idem.reason="amount must be a number" false
idem.payload="whole" false
idem.timestamp="2023-11-14T22:13:20Z" false
`, key, value, offset)
}

// Without the payload a letter has the key only. If its record was not kept, or was erased before
// the letter was sent, nothing of it is sent, nor left in the table. One that is erased later is
// not sent again.
func TestContentOfADeadLetter(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter_topic SET payload = 'omitted';
		INSERT INTO idem_dead_letter_topic VALUES ('dropper', 'dropped', 'omitted'), ('eraser', 'erased', 'whole')`)
	dropping := policy
	dropping.Drop = true
	newShop(t, db, "shop", policy).take(t, "bad")
	newShop(t, db, "dropper", dropping).take(t, "bad")
	newShop(t, db, "eraser", policy).take(t, "a/secret")
	erase := func(consumer, key string) {
		t.Helper()
		if _, err := operate.Erase(t.Context(), db, consumer, "orders.v1", key, operate.By{Operator: "ann", Reason: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	erase("eraser", "a")
	want(t, "rows with the record", query(t, db, `SELECT count(*)::text FROM idem_outbox WHERE position('secret'::bytea IN payload) > 0`), "0")
	r, _ := relay(t, db, broker, nil)
	until(t, "all are sent", func() bool { return left(t, db) == "0" })
	idemtest.Exec(t, db, `CREATE TABLE again (id uuid); CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO again VALUES (NEW.id); RETURN NEW; END';
		CREATE TRIGGER again BEFORE INSERT ON idem_outbox FOR EACH ROW EXECUTE FUNCTION again()`)
	erase("shop", "key 0")
	want(t, "sent again", query(t, db, `SELECT count(*)::text FROM again`), "0")
	for _, l := range broker.records {
		says := map[string]string{
			"shop":    `orders.dead "key 0" tenant=none payload=omitted reason=amount must be a number`,
			"dropper": `dropped "" tenant=none payload=dropped reason=amount must be a number`,
			"eraser":  `erased "" tenant=none payload=erased reason=erased by `,
		}[header(l, "idem.consumer")]
		got := fmt.Sprintf("%s %q tenant=%s payload=%s reason=%s", l.Topic, l.Key, header(l, "tenant"), header(l, "idem.payload"), header(l, "idem.reason"))
		if !strings.HasPrefix(got, says) || l.Value != nil {
			t.Errorf("got %s, value %q; want %s", got, l.Value, says)
		}
	}
	if len(broker.records) != 3 || r.Health() != nil {
		t.Errorf("%d letters, health %v", len(broker.records), r.Health())
	}
}

// Dead letters do not circulate: a consumer whose letters would go to a topic that it reads halts
// before the record, and continues when the topic is changed. What is not a topic is refused.
func TestDeadLetterTopicThatTheConsumerReads(t *testing.T) {
	t.Parallel()
	db := letterTables(t)
	for _, topic := range []string{"", "orders dead", "..", strings.Repeat("long", 70)} {
		if _, err := db.Exec(t.Context(), `UPDATE idem_dead_letter_topic SET topic = $1`, topic); err == nil || !strings.Contains(err.Error(), "check constraint") {
			t.Errorf("%q: %v", topic, err)
		}
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter_topic SET topic = 'returns.v1'`)
	s := newShop(t, db, "shop", policy, "returns.v1")
	if _, err := idemtest.Own(t, s.Consumer, "returns.v1", 0, 0); err != nil {
		t.Fatal(err)
	}
	bad := []idem.Message{{Topic: "orders.v1", LeaderEpoch: -1, Value: []byte("bad")}}
	_, err := s.Apply(t.Context(), bad)
	halted, is := errors.AsType[*idem.HaltedError](err)
	if !is || halted.Code != halt.LetterRefused || !strings.Contains(err.Error(), "idem_dead_letter_topic_is_read") {
		t.Errorf("got %v", err)
	}
	want(t, "letters", query(t, db, `SELECT count(*)::text FROM idem_dead_letter`)+left(t, db), "00")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter_topic SET topic = 'orders.dead'`)
	newShop(t, db, "shop", policy, "returns.v1").take(t, "bad")
	want(t, "unsent", unsent(t, db), "0")
}

// A letter and its event are stored together or not at all.
func TestDeadLetterWithoutItsEventIsNotStored(t *testing.T) {
	t.Parallel()
	db := letterTables(t)
	s := newShop(t, db, "shop", policy)
	idemtest.Exec(t, db, `ALTER TABLE idem_outbox RENAME TO gone`)
	if _, err := s.Apply(t.Context(), []idem.Message{{Topic: "orders.v1", LeaderEpoch: -1, Value: []byte("bad")}}); err == nil || !strings.Contains(err.Error(), "idem_outbox") {
		t.Errorf("got %v", err)
	}
	want(t, "letters", query(t, db, `SELECT count(*)::text FROM idem_dead_letter`), "0")
	idemtest.Exec(t, db, `ALTER TABLE gone RENAME TO idem_outbox`)
	newShop(t, db, "shop", policy).take(t, "bad")
	want(t, "unsent", unsent(t, db), "0")
}

// A role that writes dead letters needs no rights to the outbox: the trigger has those of the role
// that applied the migration, and it finds nothing in a schema of the caller's.
func TestRightsThatDeadLettersNeed(t *testing.T) {
	t.Parallel()
	db := letterTables(t)
	role, as := stranger(t, db, "service")
	idemtest.Exec(t, db, `GRANT SELECT ON idem_stream TO `+role+`; GRANT SELECT, INSERT, UPDATE ON idem_dead_letter TO `+role+`;
		INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('shop', 't', '00000000-0000-0000-0000-000000000000', 0)`)
	idemtest.Exec(t, as, `INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) SELECT stream, n, 1, 'd', 'decode: no' FROM idem_stream, generate_series(1, 3) n;
		UPDATE idem_dead_letter SET state = 'x' WHERE offs = 2; UPDATE idem_dead_letter SET record = NULL, erased_by = 'ann' WHERE offs = 3`)
	want(t, "unsent", unsent(t, db), "1 3")
	want(t, "functions with another's rights whose search_path is the caller's", query(t, db, `SELECT count(*)::text FROM pg_proc
		WHERE prosecdef AND NOT coalesce(proconfig::text LIKE '%search_path=pg_catalog,%', false) AND proname LIKE 'idem_%'`), "0")
}

// A letter that the database loses, and that is written again by another row of the ledger, has
// the same id. Another letter of the record, as after a rewind, has one of its own.
func TestLetterThatIsWrittenAgainKeepsItsID(t *testing.T) {
	t.Parallel()
	db := letterTables(t)
	idemtest.Exec(t, db, `INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('shop', 't', '00000000-0000-0000-0000-000000000000', 0)`)
	write := func(seq int) string {
		t.Helper()
		idemtest.Exec(t, db, fmt.Sprintf(`INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) SELECT stream, 7, %d, 'd', 'decode: no' FROM idem_stream`, seq))
		return query(t, db, fmt.Sprintf(`SELECT idem_dead_letter_id(d)::text FROM idem_dead_letter d WHERE seq = %d`, seq))
	}
	first := write(2)
	idemtest.Exec(t, db, `DELETE FROM idem_dead_letter; DELETE FROM idem_outbox`)
	want(t, "id", write(3), first)
	if another := write(9); another == first {
		t.Errorf("two letters have the id %s", first)
	}
	want(t, "unsent", query(t, db, `SELECT count(*)::text FROM idem_outbox`), "2")
}

// Letters from before the migration are sent when an operator says so, and so are others again,
// under the same id.
func TestDeadLettersAreSentOnRequest(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	idemtest.Exec(t, db, `DROP TRIGGER idem_dead_letter_changed ON idem_dead_letter`)
	s := newShop(t, db, "shop", policy)
	s.take(t, "bad")
	idemtest.Exec(t, db, outbox.DeadLetterMigration())
	s.take(t, "bad")
	want(t, "unsent", unsent(t, db), "1")
	idemtest.Exec(t, db, `SELECT idem_dead_letter_send(d) FROM (SELECT * FROM idem_dead_letter WHERE state = 'd' ORDER BY stream, offs) d`)
	want(t, "unsent", unsent(t, db), "1 0 1")
	relay(t, db, broker, nil)
	until(t, "all are sent", func() bool { return left(t, db) == "0" })
	ids := map[string]string{}
	for _, r := range broker.records {
		offset, id := header(r, "idem.offset"), header(r, "idem.id")
		if known := ids[offset]; known != "" && known != id || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
			t.Errorf("letter %s: ids %s, %s", offset, known, id)
		}
		ids[offset] = id
	}
	if len(broker.records) != 3 || ids["0"] == ids["1"] {
		t.Errorf("%d letters, ids %v", len(broker.records), ids)
	}
}

// A relay that ends after the acknowledgement and before it has deleted the letter's event is
// followed by one that sends it again, under the same id.
func TestDeadLetterSentAgainHasTheSameID(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	s := newShop(t, db, "shop", policy)
	idemtest.Exec(t, db, `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN OLD; END';
		CREATE TRIGGER die BEFORE DELETE ON idem_outbox FOR EACH ROW EXECUTE FUNCTION die()`)
	r, stop := relay(t, db, broker, nil)
	s.take(t, "bad")
	until(t, "Health says it", func() bool { return r.Health() != nil })
	stop()
	want(t, "unsent", unsent(t, db), "0")
	idemtest.Exec(t, db, `DROP TRIGGER die ON idem_outbox`)
	relay(t, db, broker, nil)
	until(t, "it is sent", func() bool { return unsent(t, db) == "" })
	ids := strings.Fields(broker.sent("idem.id"))
	if len(ids) < 2 || strings.Count(strings.Join(ids, " "), ids[0]) != len(ids) {
		t.Errorf("ids: %s", ids)
	}
}

// A letter that is replayed or discarded before it is sent is not sent, and a record that waits
// behind one is sent when it dies itself. A replay that fails sends nothing again.
func TestLettersThatAreNotDead(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	s := newShop(t, db, "shop", policy)
	s.take(t, "a/bad", "b/bad", "c/bad", "c/worse", "c/fine")
	want(t, "letters", query(t, db, `SELECT string_agg(offs || state::text, ' ' ORDER BY offs) FROM idem_dead_letter`), "0d 1d 2d 3w 4w")
	want(t, "unsent", unsent(t, db), "0 1 2")
	s.ask(t, db, "discard", 0)
	s.mended.Store(true)
	s.ask(t, db, "replay", 1)
	s.mended.Store(false)
	want(t, "unsent", unsent(t, db), "2")
	relay(t, db, broker, nil)
	until(t, "the dead one is sent", func() bool { return left(t, db) == "0" })
	s.ask(t, db, "discard", 2)
	until(t, "it is sent when it dies", func() bool { return broker.sent("idem.offset") == "2 3" && left(t, db) == "0" })
	s.ask(t, db, "replay", 3)
	want(t, "refused again", query(t, db, `SELECT string_agg(offs || state::text, ' ' ORDER BY offs) FROM idem_dead_letter`), "0x 1r 2x 3d 4w")
	s.take(t, "d/bad")
	until(t, "no letter is sent twice", func() bool { return broker.sent("idem.offset") == "2 3 5" && left(t, db) == "0" })
}

// Consumers that share a database send their letters to their own topics, or not at all.
func TestDeadLettersOfTwoConsumers(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	idemtest.Exec(t, db, `INSERT INTO idem_dead_letter_topic VALUES ('returns', 'returns.dead')`)
	for _, name := range []string{"shop", "silent", "returns"} {
		newShop(t, db, name, policy).take(t, "a/"+name)
	}
	relay(t, db, broker, nil)
	until(t, "all are sent", func() bool { return left(t, db) == "0" })
	topics := map[string]string{}
	for _, r := range broker.records {
		topics[r.Topic] += string(r.Value)
	}
	want(t, "letters", fmt.Sprint(topics), "map[orders.dead:shop returns.dead:returns]")
}

// Debezium cannot build the record of a dead letter: neither migration is applied over the other.
func TestDebeziumAndDeadLettersExcludeEachOther(t *testing.T) {
	t.Parallel()
	db := letterTables(t)
	for _, c := range []struct{ sql, says string }{
		{outbox.Migration(outbox.ByDebezium), "dead letters are sent from idem_outbox, which Debezium cannot do"},
		{`DROP TRIGGER idem_dead_letter_changed ON idem_dead_letter;` + outbox.Migration(outbox.ByDebezium), ""},
		{outbox.DeadLetterMigration(), "Debezium sends the events of idem_outbox, and it cannot send dead letters"},
		{outbox.Migration(outbox.ByRelay) + outbox.DeadLetterMigration(), ""},
	} {
		_, err := db.Exec(t.Context(), c.sql, pgx.QueryExecModeSimpleProtocol)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v, want %q", err, c.says)
		}
	}
}
