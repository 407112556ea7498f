package outbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// Stats of the relay that leads say how many events wait and since when, what is held back, and
// what was sent; another relay knows how many wait and since when.
func TestStats(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	broker.answers(func(r outbox.Record) error {
		if string(r.Key) == "bad" {
			return &outbox.RefusedError{Err: errors.New("too large")}
		}
		return nil
	})
	write(t, db, "good", "1", "2")
	write(t, db, "bad", "3", "4", "5", "6")
	idemtest.Exec(t, db, `UPDATE idem_outbox SET written_at = now() - interval '1 hour' WHERE aggregateid = 'bad'`)
	r, end := relay(t, db, broker, func(r *outbox.Runner) { r.MaxWaiting = 2 })
	until(t, "one aggregate is held back", func() bool {
		s := r.Stats()
		return s.Leading && s.Sent == 2 && s.HeldBack == 1 && s.Refused > 0 && s.Waiting == 3
	})
	until(t, "the age of the first one is known", func() bool { s := r.Stats(); return s.Oldest > time.Hour && s.Oldest < 2*time.Hour })
	other, stop := relay(t, db, &log{}, func(r *outbox.Runner) { r.MaxWaiting = 2 })
	until(t, "another one knows what waits", func() bool {
		s := other.Stats()
		return !s.Leading && s.Waiting == 3 && s.Oldest > time.Hour && s.HeldBack == 0 && s.Sent == 0
	})
	stop()
	broker.answers(nil)
	until(t, "nothing waits", func() bool {
		s := r.Stats()
		return s.Leading && s.Sent == 6 && s.HeldBack == 0 && s.Waiting == 0 && s.Oldest == 0
	})
	broker.answers(func(outbox.Record) error { return errors.New("no broker") })
	write(t, db, "7", "1")
	until(t, "an event waits", func() bool { return r.Stats().Waiting == 1 })
	end()
	if s := r.Stats(); s.Leading || s.Counted || s.Waiting != 0 || s.Oldest != 0 || s.HeldBack != 0 || s.Sent != 6 {
		t.Errorf("a relay that ended says %+v", s)
	}
}

// A relay does not know how many events wait before it has counted them, nor long after that.
func TestStatsSayWhetherEventsWereCounted(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	broker.answers(func(outbox.Record) error { return errors.New("no broker") })
	write(t, db, "a", "1")
	if (&outbox.Relay{DB: db}).Stats().Counted {
		t.Error("a relay that never ran has counted")
	}
	r, end := relay(t, db, broker, nil)
	defer end()
	until(t, "it has counted", func() bool { s := r.Stats(); return s.Leading && s.Counted && s.Waiting == 1 })
	other, stop := relay(t, db, broker, nil)
	until(t, "the other one has counted", func() bool { s := other.Stats(); return s.Counted && s.Waiting == 1 })
	stop()
	other.Age(outbox.MostCount)
	if s := other.Stats(); s.Counted || s.Waiting != 0 || s.Oldest != 0 {
		t.Errorf("long after the last count: %+v", s)
	}
}
