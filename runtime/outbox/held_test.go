package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// refusing takes no record whose value is among those given.
func refusing(topic bool, values ...string) func(context.Context, Record) error {
	return func(_ context.Context, r Record) error {
		for _, v := range values {
			if string(r.Value) == v {
				return &RefusedError{Topic: topic, Err: errors.New("it is too large")}
			}
		}
		return nil
	}
}

// A row that Kafka does not take holds back later rows of its aggregate only. Log and Health name
// it, without its key and value. When it is taken after all, they follow in their order.
func TestUndeliverableRow(t *testing.T) {
	db, kafka := database(t), &memory{answer: refusing(false, "secret-value")}
	bad := insert(t, db, "t", "secret-key", []byte("secret-value"))
	insert(t, db, "t", "secret-key", []byte("later"))
	insert(t, db, "t", "other", []byte("1"))
	r, log := newRelay(db, kafka)
	start(t, t.Context(), r)
	wantValues(t, kafka, "1")
	insert(t, db, "t", "secret-key", []byte("latest"))
	insert(t, db, "t", "other", []byte("2"))
	wantValues(t, kafka, "1", "2")
	eventually(t, "it counts as undeliverable, and 3 rows wait", func() bool {
		s := r.Stats()
		return s.Undeliverable == 1 && s.HeldBack == 3 && s.Oldest > 0
	})
	event := ""
	if err := db.QueryRow(t.Context(), `SELECT event_id::text FROM idem_outbox_orders WHERE id = $1`, bad).Scan(&event); err != nil {
		t.Fatal(err)
	}
	names := func(where, text string, all ...string) {
		t.Helper()
		for _, want := range append(all, event, "it is too large") {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not name %s: %s", where, want, text)
			}
		}
		if strings.Contains(text, "secret") {
			t.Errorf("%s: %s", where, text)
		}
	}
	names("Health", fmt.Sprint(r.Health()), "topic t", fmt.Sprintf("row %d", bad), "Placed")
	names("the log", log.String(), "topic=t", fmt.Sprintf("row=%d", bad), "type=Placed")
	tries := kafka.calls()
	eventually(t, "it is tried again", func() bool { return kafka.calls() > tries+3 })
	if n := strings.Count(log.String(), "cannot be sent"); n != 1 {
		t.Errorf("the log says so %d times", n)
	}
	kafka.set(func() { kafka.answer = nil })
	wantValues(t, kafka, "1", "2", "secret-value", "later", "latest")
	eventually(t, "all is well", func() bool {
		s := r.Stats()
		return r.Health() == nil && s.Undeliverable == 0 && s.HeldBack == 0 && s.Oldest == 0
	})
	if !strings.Contains(log.String(), "after all") {
		t.Error("the log does not say that it was sent")
	}
}

// A person discards an undeliverable row by deleting it, or mends it: what waits behind it goes.
func TestAPersonEndsTheWait(t *testing.T) {
	for what, sql := range map[string]string{
		"deleted": `DELETE FROM idem_outbox_orders WHERE id = $1`,
		"mended":  `UPDATE idem_outbox_orders SET payload = 'good' WHERE id = $1`,
		"moved":   `UPDATE idem_outbox_orders SET topic = 'u', payload = 'good' WHERE id = $1`,
	} {
		t.Run(what, func(t *testing.T) {
			db, kafka := database(t), &memory{answer: refusing(false, "bad")}
			bad := insert(t, db, "t", "a", []byte("bad"))
			insert(t, db, "t", "a", []byte("later"))
			r, _ := newRelay(db, kafka)
			start(t, t.Context(), r)
			eventually(t, "Health names it", func() bool { return r.Stats().Undeliverable == 1 })
			idemtest.Exec(t, db, sql, bad)
			if what == "deleted" {
				wantValues(t, kafka, "later")
			} else {
				wantValues(t, kafka, "good", "later")
			}
			eventually(t, "all is well", func() bool { return r.Health() == nil })
		})
	}
}

// A topic that does not exist holds back its own rows, whatever their keys; one row of it is
// tried.
func TestTopicThatDoesNotExist(t *testing.T) {
	db := database(t)
	kafka := &memory{answer: func(_ context.Context, r Record) error {
		if r.Topic == "none" {
			return &RefusedError{Topic: true, Err: errors.New("unknown topic")}
		}
		return nil
	}}
	for i := range 20 {
		insert(t, db, "none", fmt.Sprint(i), []byte("n"))
	}
	insert(t, db, "t", "0", []byte("1"))
	r, _ := newRelay(db, kafka)
	start(t, t.Context(), r)
	wantValues(t, kafka, "1")
	eventually(t, "one row is named, 20 wait", func() bool { s := r.Stats(); return s.Undeliverable == 1 && s.HeldBack == 20 })
	calls := kafka.calls()
	eventually(t, "it is tried again", func() bool { return kafka.calls() > calls+1 })
	for _, send := range kafka.sends[calls:] {
		if len(send) != 1 {
			t.Errorf("%d records are sent to a topic that does not exist", len(send))
		}
	}
	kafka.set(func() { kafka.answer = nil })
	eventually(t, "the table is empty", isEmpty(t, db))
}

// A broker may refuse all records of a request for one of them: those that are not to blame are
// sent alone at once, and nobody is told of them.
func TestRowsInBadCompany(t *testing.T) {
	db, kafka := database(t), &memory{}
	first := true
	kafka.answer = func(_ context.Context, r Record) error {
		if first || string(r.Value) == "bad" {
			return &RefusedError{Err: errors.New("too large")}
		}
		return nil
	}
	for _, v := range []string{"1", "2", "bad", "3"} {
		insert(t, db, "t", v, []byte(v))
	}
	r, log := newRelay(db, kafka)
	lead := leading(t, db, kafka)
	lead.Relay = r
	step(t, lead)
	first = false
	step(t, lead)
	wantValues(t, kafka, "1", "2", "3")
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || r.Stats().Undeliverable != 1 {
		t.Errorf("%d errors, %+v:\n%s", n, r.Stats(), log)
	}
}

// Many refused rows stop what is new, and cost no more than a few tries at a time.
func TestTooManyRefusedRows(t *testing.T) {
	db, kafka := database(t), &memory{answer: refusing(false, "bad")}
	idemtest.Exec(t, db, `
INSERT INTO idem_outbox_orders (event_id, topic, record_key, event_type, payload)
SELECT gen_random_uuid(), 't', n::text, 'Placed', 'bad' FROM generate_series(1, 1500) AS n`)
	insert(t, db, "t", "good", []byte("good"))
	r, log := newRelay(db, kafka)
	r.BatchRows = 400
	start(t, t.Context(), r)
	eventually(t, "Health says so", func() bool {
		err := r.Health()
		return err != nil && strings.Contains(err.Error(), "more than 1000 records were refused")
	})
	time.Sleep(100 * time.Millisecond)
	if n := len(kafka.values()); n != 0 {
		t.Errorf("%d records were sent", n)
	}
	if n := strings.Count(log.String(), "the relay stands"); n != 1 {
		t.Errorf("the log says %d times that it stands", n)
	}
	kafka.set(func() { kafka.answer = nil })
	eventually(t, "all are sent", isEmpty(t, db))
	eventually(t, "all is well", func() bool { return r.Health() == nil })
}
