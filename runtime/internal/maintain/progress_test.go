package maintain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Keys wait for the partition that has come least far: it may still bring copies, if it is paused,
// halted or behind, or was not read yet. A former topic of the same name does not count. Keys that
// are kept for twice their window are an alarm.
func TestKeysWaitForThePartitionThatIsBehind(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	j, _ := job(db, "a")
	pass(t, db, "a", 31*time.Minute)
	upkeep(t, db, j)
	key(t, db, "a")
	former, one := chain(t, db, "a", 1, 0), chain(t, db, "a", 1, 0)
	idemtest.Exec(t, db, `UPDATE idem_stream SET topic = 'x', seen_at = NULL WHERE stream = $1::text::int`, former)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET parts = 2 WHERE stream = $1::text::int`, one)
	pass(t, db, "a", 95*time.Minute)
	kept := func(what, want string) {
		t.Helper()
		until(t, "an earlier run does not end", func() bool {
			return text(t, db, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'idemgen upkeep' AND datname = current_database()`) == "0"
		})
		err := j.Once(t.Context())
		if got := generations(t, db, "a"); strings.HasPrefix(got, "1 sealed") != (want != "gone") {
			t.Errorf("%s: generations %s", what, got)
		}
		if is := err != nil && strings.Contains(err.Error(), "keys are kept beyond their window") && strings.Contains(err.Error(), "x/1 "); is != (want == "alarm") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	kept("a partition that was never read", "kept")
	two := text(t, db, `INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT consumer, topic, topic_id, 1 FROM idem_stream WHERE stream = $1::text::int RETURNING stream`, one)
	kept("a partition that was not read to its end", "kept")
	idemtest.Exec(t, db, `UPDATE idem_stream SET seen_at = clock_timestamp() - interval '40 minutes' WHERE stream = $1::text::int`, two)
	kept("a partition that is behind", "kept")
	pass(t, db, "a", 40*time.Minute)
	idemtest.Exec(t, db, `UPDATE idem_stream SET seen_at = seen_at - interval '40 minutes' WHERE stream = $1::text::int`, two)
	kept("for long", "alarm")
	idemtest.Exec(t, db, `UPDATE idem_stream SET seen_at = clock_timestamp() WHERE stream = $1::text::int`, two)
	kept("it has caught up", "gone")
}
