package operators

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Records that start_from: latest skips are not counted as not applied.
func TestDoctorCountsNoRecordsThatLatestSkips(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../../../examples/takeover/migrations")
	t.Setenv("DATABASE_URL", db.Config().ConnString())
	t.Chdir(t.TempDir())
	module(t, map[string]string{"idemgen.yaml": `version: 1
consumer: c
package: p
tables: {orders: {primary_key: [id], columns: {id: text}}}
topics:
  orders.v1:
    start_from: latest
    idempotency_key: {source: id, window: 8d}
    events: {Ordered: {fields: {id: string}, write: [{insert: orders}]}}
`})
	commandtest.Generate(t)
	found := checkedOf(t, ".", "ok", "--brokers", log(t, 2, 9))
	wantLines(t, slices.DeleteFunc(found, func(l string) bool { return !strings.HasPrefix(l, "topic") }), "topic orders.v1: 2 partitions, 0 with a ledger, 0 records not applied yet")
}

// Doctor knows where a service begins that takes over from another program: at the offsets of its
// group. If the group has none, its name may be wrong. If the other program has consumed again,
// the group is further than the ledger, and the ledger holds.
func TestDoctorBeforeAndAfterATakeOver(t *testing.T) {
	t.Parallel()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../../../examples/takeover/migrations")
	broker := idemtest.Kafka(t, map[string]int32{"payments.v1": 2})
	for n := range 18 {
		if err := broker.Produce(t.Context(), &idem.Message{Topic: "payments.v1", Partition: int32(n % 2)}); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(offsets ...int64) {
		t.Helper()
		if err := broker.Commit(t.Context(), "byhand", "payments.v1", offsets); err != nil {
			t.Fatal(err)
		}
	}
	says := func(when string, want ...string) {
		t.Helper()
		var lines []string
		for _, state := range []string{"ok", "warn", "FAIL", "skip"} {
			for _, line := range checkedOf(t, "../../../../examples/takeover", state, at(db), "--brokers", broker.Addr(), "--group", "byhand") {
				if strings.HasPrefix(line, "partition") || strings.HasPrefix(line, "topic") {
					lines = append(lines, state+" "+line)
				}
			}
		}
		t.Log(when)
		wantLines(t, lines, want...)
	}
	const nothing = "warn topic payments.v1: group byhand has no committed offset of it: every partition begins at its earliest record"
	says("another group", "ok topic payments.v1: 2 partitions, 0 with a ledger, at most 18 records not applied yet", nothing)
	commit(7, 9)
	says("before the start",
		"ok partition payments.v1/0: begins at the group's committed offset 7", "ok partition payments.v1/1: begins at the group's committed offset 9",
		"ok topic payments.v1: 2 partitions, 0 with a ledger, at most 2 records not applied yet")
	commit(7, 12)
	says("a group of another log", "ok partition payments.v1/0: begins at the group's committed offset 7",
		"ok topic payments.v1: 2 partitions, 0 with a ledger, at most 11 records not applied yet",
		"warn partition payments.v1/1: the topic ends at offset 9, and the group has committed offset 12: the partition halts")
	idemtest.Exec(t, db, `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT 'payments-projector', 'payments.v1', '00000000-0000-0000-0000-000000000000', p FROM generate_series(0, 1) p;
INSERT INTO idem_ledger SELECT stream, 0, gen_random_uuid(), 8, 8, 'g', 'w', -1, 3, 2, 0, clock_timestamp(), NULL, 'host, process 1' FROM idem_stream`)
	commit(8, 9)
	says("the other program has consumed again", "ok topic payments.v1: 2 partitions, 2 with a ledger, at most 2 records not applied yet",
		"warn partition payments.v1/1: the group has committed offset 9 in Kafka, and the next record to apply is 8")
	_, out, _ := run(t, "doctor", "../../../../examples/takeover", at(db), "--brokers", broker.Addr(), "--group", "byhand")
	if !strings.Contains(strings.Join(strings.Fields(out), " "), "make its ids known with idemgen adopt keys") {
		t.Errorf("the advice does not name the case:\n%s", out)
	}
}
