package outbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// An event whose topic is missing or cannot be reached takes its client as long as the client
// likes, again and again: events of other topics are sent meanwhile.
func TestMissingTopicDelaysOnlyItsEvents(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"refused":   &outbox.RefusedError{Err: errors.New("unknown topic")},
		"timed out": errors.New("timed out"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, broker := table(t, outbox.ByRelay), &log{}
			broker.answers(func(r outbox.Record) error {
				if r.Topic == "outbox.event.missing" {
					return errStuck
				}
				return nil
			})
			r, _ := relay(t, db, broker, func(r *outbox.Runner) { r.SetLate(time.Hour) }) // nobody waits for that
			missing := outbox.Event{AggregateType: "missing", AggregateID: "7", Type: "Seen", Payload: outbox.Bytes([]byte("lost"))}
			if err := outbox.Write(t.Context(), db, missing); err != nil {
				t.Fatal(err)
			}
			for n := range 4 {
				until(t, "it is on its way", func() bool { broker.mu.Lock(); defer broker.mu.Unlock(); return len(broker.stuck) == 1 })
				write(t, db, fmt.Sprint(n), "a", "b")
				until(t, "others are sent", func() bool { return broker.of(fmt.Sprint(n)) == "a b" && left(t, db) == "1" })
				broker.answered(t, err)
				if n == 0 {
					until(t, "Health names it", func() bool {
						return strings.Contains(fmt.Sprint(r.Health()), `1 aggregate is held back, the first one by event`)
					})
				}
			}
			broker.answers(nil)
			until(t, "all is sent, and Health is good", func() bool {
				broker.Purge()
				return broker.of("7") == "lost" && left(t, db) == "0" && r.Health() == nil
			})
		})
	}
}

// Events that the broker may take later wait for it, and each is tried by itself: while the client
// waits with one, another one is tried.
func TestNoEventWaitsForAnotherToFail(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	broker.answers(func(r outbox.Record) error { return map[string]error{"7": errStuck}[string(r.Key)] })
	r, _ := relay(t, db, broker, nil)
	write(t, db, "7", "1")
	for range 3 {
		broker.answered(t, errors.New("timed out"))
	}
	until(t, "Health says that the broker is away", func() bool {
		return strings.Contains(fmt.Sprint(r.Health()), "the broker has accepted no events since")
	})
	until(t, "it is on its way", func() bool { broker.mu.Lock(); defer broker.mu.Unlock(); return len(broker.stuck) == 1 })
	write(t, db, "8", "a")
	until(t, "another one is sent, and the broker is there", func() bool {
		return broker.of("8") == "a" && !strings.Contains(fmt.Sprint(r.Health()), "the broker has accepted no events")
	})
	broker.answers(nil)
	broker.answered(t, errors.New("timed out"))
	until(t, "all is sent, and Health is good", func() bool { return left(t, db) == "0" && r.Health() == nil })
}
