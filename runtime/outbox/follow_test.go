package outbox_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A relay leads and sends nothing: another one, which it keeps from sending, says so and names it,
// until it leads itself. Events that have not waited for long are nobody's fault.
func TestRelayThatLeadsAndSendsNothing(t *testing.T) {
	t.Parallel()
	db, stuck := table(t, outbox.ByRelay), &log{}
	stuck.answers(func(outbox.Record) error { return errStuck })
	first, stop := relay(t, db, stuck, nil)
	until(t, "one leads", func() bool { return first.Stats().Leading })
	write(t, db, "7", "1")
	young, end := relay(t, db, &log{}, nil)
	until(t, "it has looked", func() bool { return young.Stats().Waiting == 1 })
	if err := young.Health(); err != nil {
		t.Errorf("an event that has waited for a moment: %v", err)
	}
	end()
	idemtest.Exec(t, db, `UPDATE idem_outbox SET written_at = now() - interval '90 s'`)
	var logged *bytes.Buffer
	second, finish := relay(t, db, &log{}, func(r *outbox.Runner) { logged = lines(r.Relay) })
	until(t, "Health says it", func() bool { return second.Health() != nil })
	says := regexp.MustCompile(`^outbox: another relay leads \(idemgen outbox, (?:127\.0\.0\.1:\d+, )?pid \d+ of Postgres, since 20\S+Z\), and the first event has waited for 1m\d+s$`)
	if err := second.Health(); !says.MatchString(fmt.Sprint(err)) {
		t.Errorf("Health: %v", err)
	}
	if strings.Contains(fmt.Sprint(first.Health()), "another relay leads") {
		t.Errorf("the one that leads says %v", first.Health())
	}
	stop()
	until(t, "the second one leads and sends, and Health is good", func() bool {
		return second.Stats().Leading && second.Health() == nil && left(t, db) == "0"
	})
	finish()
	for _, once := range []string{`level=ERROR msg="outbox: another relay leads (idemgen outbox, `, `level=INFO msg="outbox: the relay leads"`} {
		if n := strings.Count(logged.String(), once); n != 1 {
			t.Errorf("%s is logged %d times:\n%s", once, n, logged)
		}
	}
}

// lines has a relay log into what it returns.
func lines(r *outbox.Relay) *bytes.Buffer {
	to := &bytes.Buffer{} // read it when the relay has ended
	r.Logger = slog.New(slog.NewTextHandler(to, nil))
	return to
}
