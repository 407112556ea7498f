package outbox_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A dead letter is sent once, with its record as it was read and all that is known of it. A
// tombstone is one there, too. Migrations that are applied again change nothing.
func TestDeadLetterIsSentWithItsRecord(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	s := newShop(t, db, "shop", policy)
	relay(t, db, broker, to(t, s, outbox.WholeRecord))
	s.take(t, "fine", "bad", "-")
	until(t, "all are sent", func() bool { return unsent(t, db) == "" })
	idemtest.Exec(t, db, outbox.DeadLetterMigration())
	s.take(t, "bad")
	until(t, "all are sent", func() bool { return broker.sent("idem.offset") == "1 2 3" && unsent(t, db) == "" })
	want(t, "ids", query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE sent_at > created_at`), "3")
	broker.mu.Lock()
	defer broker.mu.Unlock()
	var got strings.Builder
	for _, r := range broker.records[:2] {
		fmt.Fprintf(&got, "%s %q %q %t\n", r.Topic, r.Key, r.Value, r.Value == nil)
		for _, h := range r.Headers {
			value := string(h.Value)
			switch h.Name {
			case "idem.id", "idem.created_at":
				value = regexp.MustCompile(`[0-9a-f]`).ReplaceAllString(value, "0")
			}
			fmt.Fprintf(&got, "%s=%q %t\n", h.Name, value, h.Value == nil)
		}
	}
	lines := regexp.MustCompile(`(?m)^idem.created_at=.*\n`).ReplaceAllString(got.String(), "")
	want(t, "records", lines, letterText("key 1", `"bad" false`, 1)+letterText("key 2", `"" true`, 2))
	if r := broker.records[0]; header(r, "idem.id") == header(broker.records[1], "idem.id") || header(r, "idem.created_at") == "none" {
		t.Errorf("two letters have one id, or no time: %v", r.Headers)
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
idem.timestamp="2023-11-14T22:13:20Z" false
idem.class="decode" false
idem.event="Order" false
idem.reason="amount must be a number" false
idem.payload="whole" false
`, key, value, offset)
}

// Without the payload a letter has the key only. Of a record that is not kept, or was erased,
// nothing is sent, whatever the content is to be.
func TestContentOfADeadLetter(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	s := newShop(t, db, "shop", policy)
	dropping := policy
	dropping.Drop = true
	s.take(t, "bad")
	newShop(t, db, "dropper", dropping).take(t, "bad")
	eraser := newShop(t, db, "eraser", policy)
	eraser.take(t, "bad")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter d SET record = NULL, erased_by = 'orders.v1 0:9', reason = 'decode: erased by orders.v1 0:9' FROM idem_stream s WHERE s.stream = d.stream AND s.consumer = 'eraser'`)
	for _, c := range []struct {
		of      outbox.Consumer
		content outbox.Content
		want    string
	}{
		{s, outbox.WithoutPayload, `"key 0" "" tenant=none payload=omitted reason=amount must be a number`},
		{named("dropper"), outbox.WholeRecord, `"" "" tenant=none payload=dropped reason=amount must be a number`},
		{named("eraser"), outbox.WithoutPayload, `"" "" tenant=none payload=erased reason=erased by orders.v1 0:9`},
	} {
		r, stop := relay(t, db, broker, to(t, c.of, c.content))
		until(t, "it is sent", func() bool { return strings.HasSuffix(broker.sent("idem.consumer"), c.of.Name()) })
		stop()
		last := broker.records[len(broker.records)-1]
		want(t, c.of.Name(), fmt.Sprintf("%q %q tenant=%s payload=%s reason=%s", last.Key, last.Value, header(last, "tenant"), header(last, "idem.payload"), header(last, "idem.reason")), c.want)
		if last.Value != nil || r.Health() != nil {
			t.Errorf("value %q, health %v", last.Value, r.Health())
		}
	}
}

// named is a consumer that reads nothing.
type named string

func (n named) Name() string    { return string(n) }
func (named) Reads(string) bool { return false }

// A consumer's own topic is refused, however the spec names it, and so is what is no topic.
func TestDeadLetterTopicThatTheConsumerReads(t *testing.T) {
	t.Parallel()
	db := letterTables(t)
	s := newShop(t, db, "shop", policy, "returns.v1")
	for topic, why := range map[string]string{
		"orders.v1":                `the consumer reads topic "orders.v1" itself`,
		"returns.v1":               `the consumer reads topic "returns.v1" itself`,
		"":                         `"" is not a valid topic name`,
		"orders dead":              `"orders dead" is not a valid topic name`,
		"..":                       `".." is not a valid topic name`,
		strings.Repeat("long", 70): "is not a valid topic name",
	} {
		if _, err := outbox.DeadLetters(s, topic, outbox.WholeRecord); err == nil || !strings.Contains(err.Error(), "outbox: dead letters of shop: ") || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", topic, err)
		}
	}
	if _, err := outbox.DeadLetters(s, "orders.dead", 7); err == nil || !strings.Contains(err.Error(), "neither WholeRecord nor WithoutPayload") {
		t.Error(err)
	}
	if _, err := outbox.DeadLetters(nil, "orders.dead", 0); err == nil {
		t.Error("nobody's letters")
	}
	if _, err := outbox.DeadLetters(s, "eu.west.orders.dead", outbox.WholeRecord); err != nil {
		t.Error(err)
	}
}

// While the broker is away letters wait, Health says so, and the broker is asked rarely. Letters
// that were there before the relay, and before the migration, are sent.
func TestDeadLettersWaitForTheBroker(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	var first tries // of the first letter
	broker.answers(func(r outbox.Record) error {
		if header(r, "idem.offset") == "0" {
			first.add()
		}
		return errors.New("no broker")
	})
	s := newShop(t, db, "shop", policy)
	idemtest.Exec(t, db, `DROP TRIGGER idem_dead_letter_wake ON idem_dead_letter; ALTER TABLE idem_dead_letter DROP COLUMN sent_at`)
	s.take(t, "bad")
	idemtest.Exec(t, db, outbox.DeadLetterMigration())
	r, _ := relay(t, db, broker, to(t, s, outbox.WholeRecord))
	until(t, "Health says it", func() bool { return r.Health() != nil })
	s.take(t, "bad")
	if err := r.Health(); err == nil || !strings.Contains(err.Error(), "the broker has accepted no dead letters since ") || !strings.HasSuffix(err.Error(), ": no broker") {
		t.Errorf("Health: %v", err)
	}
	first.checkPauses(t)
	want(t, "unsent", unsent(t, db), "0 1")
	broker.answers(nil)
	until(t, "all is sent, and Health is good", func() bool {
		return broker.sent("idem.offset") == "0 1" && r.Health() == nil && unsent(t, db) == ""
	})
}

// A letter that the broker refuses holds back no other one, nor any event; Health names it, and it
// goes once the broker takes it.
func TestRefusedDeadLetterHoldsBackNoOther(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	var first tries // of the first letter
	broker.answers(func(r outbox.Record) error {
		if string(r.Value) == "large" && header(r, "idem.offset") == "1" {
			first.add()
		}
		if string(r.Value) == "large" {
			return &outbox.RefusedError{Err: errors.New("too large")}
		}
		return nil
	})
	s := newShop(t, db, "shop", policy)
	s.take(t, "bad", "large", "bad", "large")
	r, _ := relay(t, db, broker, to(t, s, outbox.WholeRecord))
	until(t, "the others are sent", func() bool { return unsent(t, db) == "1 3" })
	write(t, db, "7", "event")
	s.take(t, "bad")
	until(t, "others go on", func() bool { return broker.of("7") == "event" && unsent(t, db) == "1 3" })
	const says = `outbox: 2 dead letters cannot be sent, the first one of orders.v1/0 offset 1, to topic "orders.dead": refused: too large`
	until(t, "Health names it", func() bool { return fmt.Sprint(r.Health()) == says })
	s.ask(t, db, "discard", 3)
	until(t, "one that was discarded is forgotten", func() bool { return strings.HasPrefix(fmt.Sprint(r.Health()), "outbox: 1 dead letters cannot be sent") })
	first.checkPauses(t)
	broker.answers(nil)
	until(t, "it is sent, and Health is good", func() bool { return unsent(t, db) == "" && r.Health() == nil })
	want(t, "discarded", query(t, db, `SELECT (sent_at IS NULL)::text FROM idem_dead_letter WHERE offs = 3`), "true")
}

// However many letters are refused, and however long that takes, others have their turn.
func TestRefusedLettersTakeTurnsWithOthers(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	var tries atomic.Int64
	broker.answers(func(r outbox.Record) error {
		if string(r.Value) != "large" {
			return nil
		}
		if tries.Add(1) > 8 {
			time.Sleep(100 * time.Millisecond)
		}
		return &outbox.RefusedError{Err: errors.New("too large")}
	})
	s := newShop(t, db, "shop", policy)
	s.take(t, slices.Repeat([]string{"large"}, 8)...)
	relay(t, db, broker, to(t, s, outbox.WholeRecord))
	until(t, "they are tried again", func() bool { return tries.Load() >= 11 })
	s.take(t, "bad")
	before := tries.Load()
	until(t, "another one is sent", func() bool { return broker.sent("idem.offset") == "8" })
	if n := tries.Load() - before; n > 3 {
		t.Errorf("%d letters that were refused went before it", n)
	}
}

// A relay that ends after the acknowledgement and before it marked the letter is followed by one
// that sends it again, under the same id. Without a relay in between it is sent once.
func TestDeadLetterSentAgainHasTheSameID(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	s := newShop(t, db, "shop", policy)
	idemtest.Exec(t, db, `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END';
		CREATE TRIGGER die BEFORE UPDATE OF sent_at ON idem_dead_letter FOR EACH ROW EXECUTE FUNCTION die()`)
	r, stop := relay(t, db, broker, to(t, s, outbox.WholeRecord))
	s.take(t, "bad")
	until(t, "Health says it", func() bool { return r.Health() != nil })
	stop()
	want(t, "unsent", unsent(t, db), "0")
	idemtest.Exec(t, db, `DROP TRIGGER die ON idem_dead_letter`)
	relay(t, db, broker, to(t, s, outbox.WholeRecord))
	until(t, "it is sent", func() bool { return unsent(t, db) == "" })
	ids := strings.Fields(broker.sent("idem.id"))
	for _, id := range ids {
		if id != ids[0] || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
			t.Errorf("ids: %s", ids)
		}
	}
	if len(ids) < 2 {
		t.Errorf("sent %d times", len(ids))
	}
}

// A letter that is replayed or discarded before it is sent is not sent, and a record that waits
// behind one is sent when it dies itself.
func TestLettersThatAreNotDead(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	s := newShop(t, db, "shop", policy)
	s.take(t, "a/bad", "b/bad", "c/bad", "c/worse", "c/fine")
	want(t, "letters", query(t, db, `SELECT string_agg(offs || state::text, ' ' ORDER BY offs) FROM idem_dead_letter`), "0d 1d 2d 3w 4w")
	s.ask(t, db, "discard", 0)
	s.mended.Store(true)
	s.ask(t, db, "replay", 1)
	s.mended.Store(false)
	relay(t, db, broker, to(t, s, outbox.WholeRecord))
	until(t, "the dead one is sent", func() bool { return broker.sent("idem.offset") == "2" && unsent(t, db) == "" })
	s.ask(t, db, "discard", 2)
	until(t, "it is sent when it dies", func() bool { return broker.sent("idem.offset") == "2 3" && unsent(t, db) == "" })
	s.ask(t, db, "replay", 3)
	want(t, "refused again", query(t, db, `SELECT string_agg(offs || state::text, ' ' ORDER BY offs) FROM idem_dead_letter`), "0x 1r 2x 3d 4w")
	s.take(t, "d/bad")
	until(t, "no letter is sent twice", func() bool { return broker.sent("idem.offset") == "2 3 5" && unsent(t, db) == "" })
}

// Consumers that share a database have their letters sent by their own relays, at the same time,
// each once, however many relays there are.
func TestDeadLettersOfTwoConsumers(t *testing.T) {
	t.Parallel()
	db := letterTables(t)
	brokers, shops := map[string]*log{"shop": {}, "returns": {}}, map[string]*shop{}
	for name, broker := range brokers {
		shops[name] = newShop(t, db, name, policy)
		for range 2 {
			relay(t, db, broker, to(t, shops[name], outbox.WholeRecord))
		}
	}
	for n := range 3 {
		for name := range brokers {
			shops[name].take(t, "bad")
			until(t, "it is sent", func() bool { return unsent(t, db) == "" })
			want(t, "sent", brokers[name].sent("idem.consumer"), strings.TrimSpace(strings.Repeat(name+" ", n+1)))
		}
	}
}

// Where it may not mark what it sends, a relay sends no letter: it would send it again and again.
// Events go all the same.
func TestRelayThatMayNotMarkSendsNothing(t *testing.T) {
	t.Parallel()
	const refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no right''; END';
		CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON idem_dead_letter FOR EACH STATEMENT EXECUTE FUNCTION refuse()`
	for _, c := range []struct{ without, says string }{
		{refuse, "ERROR: no right (SQLSTATE P0001)"},
		{`ALTER TABLE idem_dead_letter DROP COLUMN sent_at`, "outbox.DeadLetterMigration creates it"},
		{`ALTER TABLE idem_dead_letter RENAME TO gone`, "the migrations of idemgen's runtime create it"},
	} {
		db, broker := letterTables(t), &log{}
		s := newShop(t, db, "shop", wire.FailurePolicy{StopAfter: 9})
		s.take(t, "bad")
		idemtest.Exec(t, db, c.without)
		r, stop := relay(t, db, broker, to(t, s, outbox.WholeRecord))
		until(t, "Health says it", func() bool { return r.Health() != nil })
		if err := r.Health(); !strings.HasPrefix(err.Error(), "outbox: dead letters of shop: ") || !strings.HasSuffix(err.Error(), c.says) {
			t.Errorf("Health: %v", err)
		}
		write(t, db, "7", "event")
		until(t, "events go", func() bool { return broker.of("") == "event" })
		stop()
	}
}
