//go:build cgo

package operators

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A pause stops a service at work and the process that has the partition next, without a failing
// Health, until resume. Then every record takes effect once.
func TestPauseHoldsUntilResume(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.start()
	sent := 0
	send := func(n int) {
		var values []string
		for range n {
			sent++
			values = append(values, fmt.Sprintf("put %d", sent))
		}
		l.produce(values...)
	}
	// ledger is the last row, and how many records took effect.
	ledger := func() (kind string, seq, next, effects int64) {
		t.Helper()
		err := l.db.QueryRow(t.Context(), `SELECT kind::text, seq, next, (SELECT count(*) FROM effects) FROM idem_ledger ORDER BY seq DESC LIMIT 1`).
			Scan(&kind, &seq, &next, &effects)
		if err != nil {
			t.Fatal(err)
		}
		return kind, seq, next, effects
	}
	load := make(chan struct{})
	more := make(chan struct{})
	go func() { // records come while the operator acts
		defer close(load)
		for {
			select {
			case <-more:
				return
			default:
				send(10)
			}
		}
	}()
	l.eventually("records flow", func() bool { return strings.Count(l.effects(), "=") > 50 })
	l.idemgen("idemgen stream pause --topic live.v1 --operator ann --reason repair")
	kind, row, position, effects := ledger()
	if kind != "p" || effects != position {
		t.Fatalf("row %d (%s): position %d, %d records took effect", row, kind, position, effects)
	}
	paused := func() {
		t.Helper()
		halted := l.halts(halt.Paused)
		if err := l.current.Health().Err(); err != nil || !strings.HasSuffix(halted.Reason, " by operator ann: repair") {
			t.Errorf("Health: %v, reason %q", err, halted.Reason)
		}
		if kind, seq, next, effects := ledger(); kind != "p" || seq != row || next != position || effects != position {
			t.Errorf("paused at row %d, offset %d: now row %d (%s), offset %d, %d records took effect", row, position, seq, kind, next, effects)
		}
	}
	paused()
	close(more)
	<-load
	l.start()
	send(10)
	paused()
	l.idemgen("idemgen stream pause --topic live.v1 --partition 0 --reason twice")
	l.idemgen("idemgen stream release --topic live.v1 --all --reason other")
	paused()
	_, list, _ := run(t, "stream", "list", "--database", l.db.Config().ConnString())
	for _, text := range []string{" PAUSED ", "paused since ", "by operator ann: repair", "idemgen stream resume --consumer live --topic live.v1 --partition 0 --reason paused"} {
		if !strings.Contains(strings.Join(strings.Fields(list), " "), strings.TrimSpace(text)) {
			t.Errorf("the list does not say %q:\n%s", text, list)
		}
	}
	l.idemgen("idemgen stream resume --topic live.v1 --reason repaired")
	l.eventually("all records", func() bool { return strings.Count(l.effects(), "=") == sent })
	l.idemgen("idemgen stream resume --topic live.v1 --reason twice")
	idemtest.Exec(t, l.db, `ALTER TABLE effects ADD CHECK (times = 1)`)
}
