package outbox_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A full table is emptied without a pause: the relay does not wait for word of a commit while
// there is more to read.
func TestAFullTableIsEmptiedAtOnce(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	idemtest.Exec(t, db, `INSERT INTO idem_outbox (aggregatetype, aggregateid, type, payload)
		SELECT 'user', CASE WHEN n % 4 = 0 THEN 'hot' ELSE n::text END, 'Seen', n::text::bytea FROM generate_series(1, 12000) n`)
	relay(t, db, broker, func(r *outbox.Runner) { r.SetPace(time.Hour, 0) })
	until(t, "all is sent", func() bool { return left(t, db) == "0" })
	if n := len(strings.Fields(broker.of(""))); n != 12000 {
		t.Errorf("%d events were sent", n)
	}
}

// However many events the broker refuses, as where a topic does not exist, all are sent once it
// takes them.
func TestManyRefusedEvents(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	broker.answers(func(outbox.Record) error { return &outbox.RefusedError{Err: errors.New("unknown topic")} })
	idemtest.Exec(t, db, `INSERT INTO idem_outbox (aggregatetype, aggregateid, type, payload) SELECT 'user', n::text, 'Seen', n::text::bytea FROM generate_series(1, 700) n`)
	r, _ := relay(t, db, broker, func(r *outbox.Runner) { r.SetMostHeld(500) })
	until(t, "many are held back", func() bool {
		held := 0
		_, _ = fmt.Sscanf(fmt.Sprint(r.Health()), "outbox: %d aggregates are held back", &held)
		return held >= 500
	})
	broker.answers(nil)
	until(t, "all are sent, and Health is good", func() bool { return left(t, db) == "0" && r.Health() == nil })
	if n := len(strings.Fields(broker.of(""))); n != 700 {
		t.Errorf("%d events were sent", n)
	}
}

// Events that are refused, and tried again and again, leave room for others, however many they are
// and however large.
func TestRefusedEventsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ events, size int }{"many": {4500, 1}, "large": {200, 200_000}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, broker := table(t, outbox.ByRelay), &log{}
			broker.answers(func(r outbox.Record) error {
				if strings.HasPrefix(string(r.Key), "bad") {
					return &outbox.RefusedError{Err: errors.New("unknown topic")}
				}
				return nil
			})
			idemtest.Exec(t, db, `INSERT INTO idem_outbox (aggregatetype, aggregateid, type, payload)
				SELECT 'user', 'bad' || n, 'Seen', convert_to(repeat('x', $2), 'UTF8') FROM generate_series(1, $1) n`, c.events, c.size)
			r, _ := relay(t, db, broker, nil)
			all := fmt.Sprintf("%d aggregates are held back", c.events)
			until(t, "all are held back", func() bool { err := r.Health(); return err != nil && strings.Contains(err.Error(), all) })
			for n := range 30 { // while they are tried again
				write(t, db, "good", strconv.Itoa(n))
				until(t, "another one is sent", func() bool { return left(t, db) == strconv.Itoa(c.events) })
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
}

// An event whose row somebody else has locked is sent once, deleted when it is free, and holds up
// no other.
func TestEventWhoseRowIsLocked(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	write(t, db, "7", "1", "2")
	owner, err := db.Begin(t.Context())
	if err == nil {
		_, err = owner.Exec(t.Context(), `SELECT FROM idem_outbox WHERE seq = 1 FOR UPDATE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, _ := relay(t, db, broker, func(r *outbox.Runner) { r.SetPace(time.Hour, 0) })
	until(t, "the other one is deleted", func() bool { return left(t, db) == "1" })
	write(t, db, "7", "3")
	until(t, "events go on", func() bool { return broker.of("7") == "1 2 3" && left(t, db) == "1" })
	if err := owner.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "it is deleted, and Health is good", func() bool { return left(t, db) == "0" && r.Health() == nil })
	want(t, "sent", broker.of("7"), "1 2 3")
}

// An event that a trigger does not let be deleted is sent once by a relay, holds up no other, and
// Health reports it until it can be deleted.
func TestEventThatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	idemtest.Exec(t, db, `CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
	idemtest.Exec(t, db, `CREATE TRIGGER keep BEFORE DELETE ON idem_outbox FOR EACH ROW WHEN (old.seq < 3) EXECUTE FUNCTION keep()`)
	write(t, db, "7", "1", "2", "3")
	r, _ := relay(t, db, broker, func(r *outbox.Runner) { r.SetPace(time.Hour, 0) })
	until(t, "Health reports it", func() bool {
		err := r.Health()
		return err != nil && strings.Contains(err.Error(), "2 events that the broker has are not deleted")
	})
	write(t, db, "7", "4")
	until(t, "events continue", func() bool { return broker.of("7") == "1 2 3 4" && left(t, db) == "2" })
	idemtest.Exec(t, db, `DROP TRIGGER keep ON idem_outbox`)
	until(t, "they are deleted, and Health is good", func() bool { return left(t, db) == "0" && r.Health() == nil })
	want(t, "sent", broker.of("7"), "1 2 3 4")
}

// tries are the times at which something was tried.
type tries struct {
	mu sync.Mutex
	at []time.Time
}

func (x *tries) add() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.at = append(x.at, time.Now())
}

// checkPauses waits for the third try, and checks that the pauses between tries double, from a
// quarter of a second on.
func (x *tries) checkPauses(t *testing.T) {
	t.Helper()
	until(t, "it is tried three times", func() bool { x.mu.Lock(); defer x.mu.Unlock(); return len(x.at) >= 3 })
	x.mu.Lock()
	defer x.mu.Unlock()
	for n, least := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond} {
		if pause := x.at[n+1].Sub(x.at[n]); pause < least {
			t.Errorf("it was tried again within %s, not %s", pause, least)
		}
	}
}
