package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// TestAnswersAndCommitsWakeTheRelay: nothing that can be sent waits for time to pass. The answer to
// an event lets the next one of its aggregate follow, and a commit lets the relay read.
func TestAnswersAndCommitsWakeTheRelay(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	write(t, db, "1", "1", "2", "3", "4", "5")
	relay(t, db, broker, func(r *outbox.Runner) {
		r.SetPace(time.Hour, time.Hour)
		r.SetAgain(time.Hour)
	})
	for n := range 5 {
		until(t, "all are sent and deleted", func() bool {
			broker.mu.Lock()
			defer broker.mu.Unlock()
			return len(broker.records) == 5+n && left(t, db) == "0"
		})
		write(t, db, fmt.Sprint(n), "6")
	}
}
