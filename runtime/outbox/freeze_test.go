package outbox_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// freezer is a relay's way to a broker. It takes some records, then it freezes: those after them
// come to the broker when it thaws. While it is frozen, so is the relay that calls it, or its
// records stay on the wire only.
type freezer struct {
	to        *log
	stops     bool // the relay that calls it
	mu        sync.Mutex
	calls     int
	wire      []func()
	thawed    chan struct{}
	thawsOnce sync.Once
}

// beforeFrost are records that come to the broker at once: more than there are aggregates, so that
// the relay is in its second turn at least.
const beforeFrost = 7

func (f *freezer) Produce(r outbox.Record, done func(error)) {
	f.mu.Lock()
	f.calls++
	late := f.calls > beforeFrost
	if late {
		f.wire = append(f.wire, func() { f.to.Produce(r, done) })
	}
	f.mu.Unlock()
	switch {
	case !late:
		f.to.Produce(r, done)
	case f.stops:
		<-f.thawed
	}
}

// Purge is called by a process that is awake.
func (f *freezer) Purge() { <-f.thawed }

// frozen reports whether records are on the wire.
func (f *freezer) frozen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.wire) > 0
}

// thaw has the records on the wire come to the broker, and returns how often Produce was called.
func (f *freezer) thaw() (calls int) {
	f.thawsOnce.Do(func() {
		f.mu.Lock()
		calls = f.calls
		for _, arrive := range f.wire {
			arrive()
		}
		f.mu.Unlock()
		close(f.thawed)
	})
	return calls
}

// A relay that leads freezes, as a whole or its connections only, and another one takes over. What
// the first had on its way comes late: no event is lost, each comes first in the order of its
// aggregate, and copies have the id of what came before. When it thaws it sends nothing that it
// had read.
func TestFrozenRelayIsFollowed(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]bool{"process": true, "connections": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, broker := table(t, outbox.ByRelay), &log{}
			const aggregates = 5
			for n := range aggregates {
				write(t, db, fmt.Sprint(n), "1", "2", "3")
			}
			proxy, pool := cutproxy.Pool(t, db)
			ice := &freezer{to: broker, stops: whole, thawed: make(chan struct{})}
			_, stop := relay(t, pool, ice, func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, 500*time.Millisecond) })
			t.Cleanup(func() { ice.thaw() })
			until(t, "it is frozen", ice.frozen)
			proxy.Silence(cutproxy.Up, true)
			proxy.Silence(cutproxy.Down, true)
			relay(t, db, broker, func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, 0) })
			until(t, "another one has sent all", func() bool { return left(t, db) == "0" })
			before, calls := len(strings.Fields(broker.of(""))), ice.thaw()
			proxy.Silence(cutproxy.Up, false)
			proxy.Silence(cutproxy.Down, false)
			until(t, "late copies have come", func() bool { return len(strings.Fields(broker.of(""))) == before+calls-beforeFrost })
			write(t, db, "0", "4")
			until(t, "events go on", func() bool { return left(t, db) == "0" })
			stop()
			if ice.calls != calls {
				t.Errorf("%d events were sent by a relay that did not lead any more", ice.calls-calls)
			}
			for n := range aggregates {
				checkCopies(t, broker, fmt.Sprint(n))
			}
		})
	}
}

// checkCopies checks that the events of an aggregate came first in their order, none is missing,
// and those that came again have the id that they had.
func checkCopies(t *testing.T, broker *log, key string) {
	t.Helper()
	broker.mu.Lock()
	defer broker.mu.Unlock()
	var order []string
	ids := map[string]string{}
	for _, r := range broker.records {
		value, id := string(r.Value), header(r, "id")
		switch known := ids[value]; {
		case string(r.Key) != key:
		case known == "":
			order, ids[value] = append(order, value), id
		case known != id:
			t.Errorf("aggregate %s: event %s came under two ids", key, value)
		}
	}
	if want := []string{"1", "2", "3", "4"}[:len(order)]; !slices.Equal(order, want) || len(order) < 3 {
		t.Errorf("aggregate %s: %s", key, order)
	}
}

// A commit wakes a relay that never looks by itself, and so does what a broker that was away, or
// that refused an event, takes in the end.
func TestCommitWakesTheRelay(t *testing.T) {
	t.Parallel()
	db, broker := letterTables(t), &log{}
	s := newShop(t, db, "shop", policy)
	r, _ := relay(t, db, broker, func(r *outbox.Runner) { r.SetPace(time.Hour, time.Hour) })
	for n := range 3 {
		write(t, db, "7", fmt.Sprint(n))
		until(t, "the event is sent", func() bool { return left(t, db) == "0" })
		s.take(t, "bad")
		until(t, "the dead letter is sent", func() bool { return unsent(t, db) == "" })
	}
	s.take(t, "a/bad", "a/bad")
	until(t, "the first is sent", func() bool { return unsent(t, db) == "" })
	s.ask(t, db, "discard", 3)
	until(t, "the record that died behind it is sent", func() bool { return strings.HasSuffix(broker.sent("idem.offset"), "3 4") })
	for _, err := range []error{errors.New("no broker"), &outbox.RefusedError{Err: errors.New("too large")}} {
		broker.answers(func(outbox.Record) error { return err })
		write(t, db, "7", "late")
		s.take(t, "bad")
		until(t, "Health says it", func() bool { return r.Health() != nil })
		broker.answers(nil)
		until(t, "it is tried again", func() bool { return left(t, db) == "0" && unsent(t, db) == "" && r.Health() == nil })
	}
}
