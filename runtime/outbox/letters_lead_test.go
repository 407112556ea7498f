package outbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// One of a consumer's relays sends its dead letters: another one sends none that is on its way,
// and takes over when the first one ends.
func TestOneRelaySendsDeadLetters(t *testing.T) {
	t.Parallel()
	db, first, second := letterTables(t), &log{}, &log{}
	first.answers(func(outbox.Record) error { return errStuck })
	s := newShop(t, db, "shop", policy)
	s.take(t, "bad")
	_, stop := relay(t, db, first, to(t, s, outbox.WholeRecord))
	until(t, "it is on its way", func() bool { first.mu.Lock(); defer first.mu.Unlock(); return len(first.stuck) == 1 })
	relay(t, db, second, to(t, s, outbox.WholeRecord))
	time.Sleep(200 * time.Millisecond) // it could send now
	if got := second.sent("idem.offset"); got != "" {
		t.Errorf("two relays lead: %s", got)
	}
	first.Purge()
	stop()
	until(t, "the other one sends it", func() bool { return unsent(t, db) == "" })
	if got := strings.TrimSpace(first.sent("idem.offset") + " " + second.sent("idem.offset")); got != "0" {
		t.Errorf("sent: %s", got)
	}
}
