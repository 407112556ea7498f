package outbox_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A partition that does not answer holds up only its own aggregates, however many events wait
// there, also when they are retried. Health names the event that waits longest. When the partition
// answers, each aggregate continues in its order and nothing is lost.
func TestOthersGoOnBesideAPartitionThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, hot := range map[string]struct {
		events     int
		aggregate  string // SQL of n
		payload    string
		aggregates int
	}{
		"one aggregate with many events": {6000, `'hot'`, `n::text`, 1},
		"many aggregates":                {4500, `'hot' || n`, `n::text`, 4500},
		"aggregates with many events":    {9000, `'hot' || n % 30`, `n::text`, 30},
		"large events":                   {24, `'hot' || n`, `lpad(n::text, 1 << 20)`, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, broker := table(t, outbox.ByRelay), &log{}
			broker.answers(func(r outbox.Record) error {
				if strings.HasPrefix(string(r.Key), "hot") {
					return errStuck
				}
				return nil
			})
			idemtest.Exec(t, db, fmt.Sprintf(`INSERT INTO idem_outbox (aggregatetype, aggregateid, type, payload)
				SELECT 'user', %s, 'Seen', convert_to(%s, 'UTF8') FROM generate_series(1, %d) n`, hot.aggregate, hot.payload, hot.events))
			// A lead that is lost, as on a busy machine, would send events again.
			r, _ := relay(t, db, broker, func(r *outbox.Runner) { r.SetPace(0, time.Minute) })
			write(t, db, "cold", "1", "2")
			until(t, "another aggregate is sent", func() bool { return broker.of("cold") == "1 2" })
			names := regexp.MustCompile(fmt.Sprintf(`%d aggregates? waits? for an answer of the broker, the first one since 20\S+Z: event \S+ of type "Seen", aggregate "user" "hot\d*", to topic "outbox.event.user"$`, hot.aggregates))
			until(t, "Health names the event", func() bool { return names.MatchString(fmt.Sprint(r.Health())) })
			broker.Purge() // as a client that has waited for long enough
			until(t, "the failure is known", func() bool { return !names.MatchString(fmt.Sprint(r.Health())) })
			until(t, "some are retried", func() bool { broker.mu.Lock(); defer broker.mu.Unlock(); return len(broker.stuck) > 0 })
			write(t, db, "cold", "3", "4")
			until(t, "another aggregate is sent beside retries", func() bool { return broker.of("cold") == "1 2 3 4" })
			broker.answers(nil)
			broker.Purge()
			until(t, "all is sent, and Health is good", func() bool { return left(t, db) == "0" && r.Health() == nil })
			broker.inOrder(t, hot.events+4)
		})
	}
}

// inOrder checks that there are so many records, and that those of each key are in order.
func (l *log) inOrder(t *testing.T, n int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	last := map[string]int{}
	for _, r := range l.records {
		var value int
		if _, err := fmt.Sscan(string(r.Value), &value); err != nil || value <= last[string(r.Key)] {
			t.Fatalf("aggregate %s: %d after %d: %v", r.Key, value, last[string(r.Key)], err)
		}
		last[string(r.Key)] = value
	}
	if len(l.records) != n {
		t.Errorf("%d events were sent, not %d", len(l.records), n)
	}
}

// A rejected event is retried alone in its topic, but does not wait for a partition that does not
// answer, and others of the topic do not wait for it.
func TestRefusedEventBesideAPartitionThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	var bad tries
	broker.answers(func(r outbox.Record) error {
		switch string(r.Key) {
		case "hot":
			return errStuck
		case "bad":
			bad.add()
			return &outbox.RefusedError{Err: errors.New("too large")}
		}
		return nil
	})
	relay(t, db, broker, nil)
	write(t, db, "hot", "1", "2")
	write(t, db, "bad", "1", "2")
	bad.checkPauses(t)
	write(t, db, "cold", "1", "2")
	until(t, "others of the topic are sent", func() bool { return broker.of("cold") == "1 2" })
	broker.answers(func(r outbox.Record) error {
		if string(r.Key) == "good" {
			return nil
		}
		return errStuck
	})
	until(t, "the rejected event is retried, without an answer", func() bool { broker.mu.Lock(); defer broker.mu.Unlock(); return len(broker.stuck) > 1 })
	write(t, db, "good", "1", "2")
	until(t, "others of the topic are sent", func() bool { return broker.of("good") == "1 2" })
}

// The answer to an event is late while a later event of its aggregate is being read: those between
// the two are not overtaken.
func TestAReadDoesNotOvertakeALateEvent(t *testing.T) {
	t.Parallel()
	db, broker, g := table(t, outbox.ByRelay), &log{}, newGate(1)
	broker.answers(func(outbox.Record) error { return errStuck })
	write(t, db, "7", "1", "2")
	relay(t, behind(t, db, g), broker, nil)
	until(t, "the first is in flight", func() bool { broker.mu.Lock(); defer broker.mu.Unlock(); return len(broker.stuck) == 1 })
	g.shut.Store(true)
	write(t, db, "7", "3")
	<-g.kept
	time.Sleep(1500 * time.Millisecond) // until its answer is late
	broker.answers(nil)
	broker.answered(t, nil)
	until(t, "the first is sent", func() bool { return broker.of("7") != "" || left(t, db) != "3" })
	close(g.open)
	until(t, "all is sent", func() bool { return left(t, db) == "0" })
	want(t, "sent after the first", broker.of("7"), "2 3")
}
