package outbox_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A letter that the broker refuses holds back the letters of its record key and no other, nor any
// event. Health names it. Those behind it go once it is discarded, or once the broker takes it.
func TestRefusedDeadLetterHoldsBackItsKeyOnly(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	var first tries // of the first letter
	broker.answers(func(r outbox.Record) error {
		if header(r, "idem.offset") == "1" {
			first.add()
		}
		if string(r.Value) == "large" {
			return &outbox.RefusedError{Err: errors.New("too large")}
		}
		return nil
	})
	keep := policy
	keep.Park = false
	s := newShop(t, db, "shop", keep)
	s.take(t, "a/bad", "b/large", "b/worse", "c/large", "c/bad")
	r, _ := relay(t, db, broker, nil)
	until(t, "the other one is sent", func() bool { return unsent(t, db) == "1 2 3 4" })
	write(t, db, "7", "event")
	s.take(t, "d/bad", "a/bad")
	until(t, "others continue", func() bool { return broker.of("7") == "event" && unsent(t, db) == "1 2 3 4" })
	until(t, "Health names it", func() bool {
		says := fmt.Sprint(r.Health())
		return strings.Contains(says, "2 aggregates are held back") &&
			strings.Contains(says, `of type "dead letter of shop: orders.v1/0 offset 1"`) && strings.HasSuffix(says, `to topic "orders.dead": refused: too large`)
	})
	s.ask(t, db, "discard", 3)
	until(t, "the one behind it is sent", func() bool { return unsent(t, db) == "1 2" })
	first.checkPauses(t)
	broker.answers(nil)
	until(t, "all is sent, and Health is good", func() bool { return left(t, db) == "0" && r.Health() == nil })
	want(t, "letters of key b", broker.of("b"), "large worse")
	want(t, "letters of key c", broker.of("c"), "bad")
}

// However many letters the broker refuses, as where their topic does not exist, events are sent,
// and the relay keeps some only. All are sent once the broker takes them.
func TestRefusedDeadLettersHoldBackNoEvent(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	broker.answers(func(r outbox.Record) error {
		if r.Topic == "orders.dead" {
			return &outbox.RefusedError{Err: errors.New("unknown topic")}
		}
		return nil
	})
	idemtest.Exec(t, db, `INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('shop', 't', '00000000-0000-0000-0000-000000000000', 0);
		INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) SELECT stream, n, 1, 'd', 'decode: no' FROM idem_stream, generate_series(1, 7000) n`)
	r, _ := relay(t, db, broker, func(r *outbox.Runner) { r.SetMostHeld(500) })
	until(t, "many are held back", func() bool { return r.Stats().HeldBack >= 500 })
	for n := range 20 { // while letters are tried again
		write(t, db, fmt.Sprint(n), "event")
		until(t, "an event is sent", func() bool { return left(t, db) == "7000" })
		time.Sleep(50 * time.Millisecond)
	}
	if n := r.Stats().HeldBack; n > 5000 { // one read of 4,000 goes beyond the bound
		t.Errorf("%d aggregates are held back in memory", n)
	}
	broker.answers(nil)
	until(t, "all are sent, and Health is good", func() bool { return left(t, db) == "0" && r.Health() == nil })
	if n := len(broker.records); n != 7020 {
		t.Errorf("%d records were sent", n)
	}
}

// Letters of one record key are sent in the order of the log, whatever the broker answers.
func TestDeadLettersOfAKeyKeepTheirOrder(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	broker.answers(func(outbox.Record) error {
		switch rand.IntN(20) {
		case 0:
			return errors.New("no broker")
		case 1:
			return &outbox.RefusedError{Err: errors.New("too large")}
		}
		return nil
	})
	keep := policy
	keep.Park = false
	s := newShop(t, db, "shop", keep)
	relay(t, db, broker, nil)
	const keys, each = 5, 8
	wants := map[string]string{}
	for n := range each {
		var batch []string
		for k := range keys {
			batch = append(batch, fmt.Sprintf("k%d/%d", k, n))
			wants[fmt.Sprint("k", k)] += fmt.Sprintf("%d ", n)
		}
		s.take(t, batch...)
	}
	until(t, "all are sent", func() bool { return left(t, db) == "0" })
	for key, all := range wants {
		want(t, key, broker.of(key)+" ", all)
	}
}

// A letter whose record is damaged is not sent, and Health says so.
func TestDamagedDeadLetterIsHeldBack(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	newShop(t, db, "shop", policy).take(t, "bad", "bad", "bad")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET record = '\x09' WHERE offs = 1; UPDATE idem_outbox SET idem_letter = '{}' WHERE seq = 3`)
	r, _ := relay(t, db, broker, nil)
	until(t, "the other one is sent, and Health says it", func() bool {
		says := fmt.Sprint(r.Health())
		return broker.sent("idem.offset") == "0" && strings.Contains(says, "2 aggregates are held back") &&
			(strings.Contains(says, "the stored record is written in form 9") || strings.Contains(says, "not a list of names and values"))
	})
}

// Where it may not delete what it sends, a relay sends nothing: it would send it again and again.
func TestRelayThatMayNotDeleteSendsNothing(t *testing.T) {
	t.Parallel()
	const refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no right''; END';
		CREATE TRIGGER refuse BEFORE DELETE ON idem_outbox FOR EACH STATEMENT EXECUTE FUNCTION refuse()`
	for _, c := range []struct{ without, says string }{
		{refuse, "ERROR: no right (SQLSTATE P0001)"},
		{`ALTER TABLE idem_outbox RENAME TO gone`, "idemgen outbox migration prints the SQL that creates the table"},
	} {
		db, broker := letterTables(t), &log{}
		write(t, db, "7", "event")
		idemtest.Exec(t, db, c.without)
		r, stop := relay(t, db, broker, nil)
		until(t, "Health says it", func() bool { return r.Health() != nil })
		if err := r.Health(); !strings.HasPrefix(err.Error(), "outbox: events: ") || !strings.HasSuffix(err.Error(), c.says) {
			t.Errorf("Health: %v", err)
		}
		stop()
		want(t, "sent", broker.of(""), "")
	}
}
