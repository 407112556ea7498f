package operators

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// silentSince is when a process fell silent.
var silentSince = regexp.MustCompile(`(process \d since) 20\S+Z`)

// process inserts the row of a process of a consumer, which was written so many seconds ago, and
// reports partitions of orders.v1 as "partition state" or "partition state code".
func process(t *testing.T, db *pgxpool.Pool, consumer, name string, ago int, partitions ...string) {
	t.Helper()
	var all []string
	for _, text := range partitions {
		words := append(strings.Fields(text), "", "")
		reason, ways := "", "[]"
		if words[2] != "" {
			reason, ways = "the "+words[2]+" of it "+strings.Repeat("because ", 20)+"end", `[{"code": "`+words[2]+`"}]`
		}
		all = append(all, fmt.Sprintf(`{"topic": "orders.v1", "partition": %s, "state": %q, "since": "2026-01-01T12:00:00Z", "position": 10, "end": 13, "lag": 3, "code": %q, "reason": %q, "ways": %s}`,
			words[0], words[1], words[2], reason, ways))
	}
	idemtest.Exec(t, db, `INSERT INTO idem_process (process, consumer, name, version, seen_at, every, report)
		VALUES (gen_random_uuid(), $1, $2, '', clock_timestamp() - $3::int * interval '1 s', '5 s', $4)`, consumer, name, ago, `{"partitions": [`+strings.Join(all, ",")+`]}`)
}

// The list says of every partition which process has it and in which state, and of one that makes
// no progress why, and what to do. What is not known is no state.
func TestStreamListShowsOwnersAndStates(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT 'projector', 'orders.v1', '00000000-0000-4000-8000-000000000001', p FROM generate_series(2, 7) p;
INSERT INTO idem_ledger SELECT stream, 0, gen_random_uuid(), 10, 10, 'g', 'w', -1, 3, 8, 0, clock_timestamp() - interval '3 days', NULL, 'host, process 1' FROM idem_stream WHERE partition > 1`)
	process(t, db, "projector", "a, process 1", 2, "0 READY", "1 READY", "2 HALTED record-refused", "5 READY")
	process(t, db, "projector", "b, process 2", 40, "3 READY", "4 HALTED runtime")
	process(t, db, "projector", "c, process 3", 1, "0 STANDBY standby", "6 READY waiting")
	process(t, db, "other", "d, process 4", 1, "7 READY")
	const want = `
1 partition halted: orders.v1/2
          record-refused since 2026-01-01T12:00:00Z: the record-refused of it because because
            because because because because because because because because because because because
            because because because because because because because end
          idemgen stream release --consumer projector --topic orders.v1 --partition 2 --reason record-refused

2 partitions not known: orders.v1/3-4
          not-reported: b, process 2 has been silent for 40s
          see whether the process still runs and reaches the database; if not, start it

1 partition not known: orders.v1/7
          not-reported: no process reports it
          wait: a rebalance takes a moment; if it lasts, look at the members of the group: one that
            does not report itself may have the partition

1 partition retries by itself: orders.v1/6
          waiting since 2026-01-01T12:00:00Z: the waiting of it because because because because
            because because because because because because because because because because because
            because because because because because end
          idemgen stream release --consumer projector --topic orders.v1 --partition 6 --reason waiting

1 process fell silent within the last hour
          fell-silent: b, process 2 since T; a process that ends in order says
            so: one that falls silent was killed, hangs, or lost its machine or its connection to
            the database
          if it happens repeatedly, look for out-of-memory kills by the kernel, and for crashes in
            their logs

orders.v1 of projector
topic id 00000000-0000-4000-8000-000000000001
PARTITION   OF STATE          POSITION         LAG        ROW KIND           AGE DEAD LETTERS
        0    4 READY                10           3          0 genesis         3d            0
        1    4 READY                10           3          0 genesis         3d            0
        2    8 HALTED               10           3          0 genesis         3d            0
        3    8 not known            10           -          0 genesis         3d            0
        4    8 not known            10           -          0 genesis         3d            0
        5    8 READY                10           3          0 genesis         3d            0
        6    8 READY                10           3          0 genesis         3d            0
        7    8 not known            10           -          0 genesis         3d            0
          at a, process 1: 0-2, 5
          at c, process 3: 6
`
	if got := silentSince.ReplaceAllString(regexp.MustCompile(`silent for \d+s`).ReplaceAllString(must(t, "stream", "list", "--consumer", "projector"), "silent for 40s"), "$1 T"); got != want[1:] {
		t.Errorf("got\n%s", got)
	}
	var got struct{ Streams []operate.Status }
	if err := json.Unmarshal([]byte(must(t, "stream", "list", "--consumer", "projector", "--json")), &got); err != nil || len(got.Streams) != 8 {
		t.Fatalf("%+v, %v", got, err)
	}
	r := got.Streams[2].Reported
	if r == nil || r.Process != "a, process 1" || r.State != "HALTED" || r.Code != "record-refused" || r.Reason == "" || r.Do == "" || r.Since.IsZero() || r.Silent || r.Lag != 3 || r.Position != 10 || r.End != 13 {
		t.Errorf("halted: %+v", r)
	}
	if r := got.Streams[4].Reported; r == nil || !r.Silent {
		t.Errorf("silent: %+v", r)
	}
	if r := got.Streams[7].Reported; r != nil {
		t.Errorf("not reported: %+v", r)
	}
}

// A halted partition without a ledger is in the list, and fails the examination. Its ledger is not
// taken for one whose rows are gone.
func TestHaltWithoutALedgerIsSeen(t *testing.T) {
	db := shop(t)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger`)
	process(t, db, "order-projector", "a, process 1", 2, "0 READY", "1 HALTED ledger-missing")
	const want = `
orders.v1 of order-projector
topic id not known: without a ledger
PARTITION   OF STATE          POSITION         LAG        ROW KIND           AGE DEAD LETTERS
        1    - HALTED                -           3          - none             -            0
`
	list := must(t, "stream", "list", "--consumer", "order-projector")
	if !strings.Contains(list, want) || !strings.HasPrefix(list, "1 partition halted: orders.v1/1\n") || !strings.Contains(list, "        0    - READY                 -           3          - gone             -") {
		t.Errorf("got\n%s", list)
	}
	t.Setenv("KAFKA_BROKERS", "")
	wantLines(t, slices.DeleteFunc(checked(t, "FAIL"), func(l string) bool { return l == notDurable }),
		"ledger orders.v1/0: the database knows this partition, and its ledger has no rows: they were deleted, or the database was restored to an earlier state",
		"partition orders.v1/1: HALTED, ledger-missing since 2026-01-01T12:00:00Z: the ledger-missing of it "+strings.Repeat("because ", 20)+"end")
}

// Doctor says of a partition what its process reports, and finds nothing well beside one that
// makes no progress, or whose state is not known.
func TestDoctorReadsWhatProcessesReport(t *testing.T) {
	t.Parallel()
	db := aShop(t)
	idemtest.Exec(t, db, `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT consumer, topic, topic_id, p FROM idem_stream, generate_series(1, 3) p;
INSERT INTO idem_ledger SELECT stream, 0, gen_random_uuid(), 0, 0, 'g', 'w', -1, 3, 4, 0, clock_timestamp(), NULL, 'host, process 1' FROM idem_stream WHERE partition > 0;
UPDATE idem_ledger SET parts = 4`)
	brokers := log(t, 4, 9)
	// lines are those about processes, partitions and topics.
	lines := func() (found []string) {
		t.Helper()
		_, out, _ := run(t, "doctor", "../../../../examples/orders", at(db), "--json", "--brokers", brokers)
		var answer struct {
			Checks []struct{ State, About, Found, Advice string }
		}
		commandtest.Parse(t, out, &answer)
		for _, c := range answer.Checks {
			if strings.HasPrefix(c.About, "process") || strings.HasPrefix(c.About, "partition") || strings.HasPrefix(c.About, "topic") {
				found = append(found, silentSince.ReplaceAllString(regexp.MustCompile(`1m3\ds`).ReplaceAllString(c.State+" "+c.About+": "+c.Found, "1m30s"), "$1 T"))
			}
			if c.State == "FAIL" && strings.Contains(c.Found, "HALTED") && c.Advice != "idemgen stream release --consumer order-projector --topic orders.v1 --partition 1 --reason runtime" {
				t.Errorf("the advice is %q", c.Advice)
			}
		}
		return found
	}
	const killed = "k, process 0" // its partitions have another owner
	process(t, db, "order-projector", killed, 90, "0 READY", "1 READY")
	process(t, db, "order-projector", "a, process 1", 1, "0 READY", "1 HALTED runtime")
	process(t, db, "order-projector", "b, process 2", 90, "2 READY")
	const silent = "warn process k, process 0: 1 process fell silent within the last hour, fell-silent: k, process 0 since T; a process that ends in order says so: one that falls silent was killed, hangs, or lost its machine or its connection to the database"
	wantLines(t, lines(),
		"FAIL partition orders.v1/1: HALTED, runtime since 2026-01-01T12:00:00Z: the runtime of it "+strings.Repeat("because ", 20)+"end",
		"FAIL partition orders.v1/2: NOT KNOWN, not-reported: b, process 2 has been silent for 1m30s",
		"FAIL partition orders.v1/3: NOT KNOWN, not-reported: no process reports it",
		"warn processes b, process 2; k, process 0: 2 processes fell silent within the last hour, fell-silent: b, process 2 since T; k, process 0 since T; a process that ends in order says so: one that falls silent was killed, hangs, or lost its machine or its connection to the database")
	idemtest.Exec(t, db, `
INSERT INTO idem_ledger SELECT stream, seq + 1, gen_random_uuid(), next, next, 'p', 'o', -1, 3, 4, 0, '2026-01-01T12:00:00Z', NULL, 'operator ann: repair'
FROM idem_ledger WHERE seq = (SELECT max(seq) FROM idem_ledger l WHERE l.stream = idem_ledger.stream) AND stream IN (SELECT stream FROM idem_stream WHERE partition IN (1, 3))`)
	idemtest.Exec(t, db, `DELETE FROM idem_process WHERE name <> $1`, killed)
	process(t, db, "order-projector", "a, process 1", 1, "0 READY", "1 PAUSED paused")
	process(t, db, "order-projector", "b, process 2", 1, "2 READY")
	wantLines(t, lines(),
		"FAIL partition orders.v1/3: NOT KNOWN, not-reported: no process reports it",
		"warn partitions orders.v1/1, 3: PAUSED, paused since 2026-01-01T12:00:00Z: paused at 2026-01-01T12:00:00Z by operator ann: repair",
		silent)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE kind = 'p'; DELETE FROM idem_process WHERE name <> 'k, process 0'`)
	process(t, db, "order-projector", "a, process 1", 1, "0 READY", "1 READY")
	process(t, db, "order-projector", "b, process 2", 1, "2 READY", "3 READY")
	wantLines(t, lines(),
		silent, "ok processes: 2 processes report themselves; partitions that make progress: 4",
		"ok topic orders.v1: 4 partitions, 4 with a ledger, at most 2 records not applied yet")
}

// A row that cannot be read hides nothing of the other processes from any command: doctor names
// it.
func TestCommandsReadTheOtherProcesses(t *testing.T) {
	db := ledgers(t)
	process(t, db, "projector", "a, process 1", 2, "0 READY")
	process(t, db, "order-projector", "b, process 2", 2)
	idemtest.Exec(t, db, `INSERT INTO idem_process (process, consumer, name, version, every, report) VALUES (gen_random_uuid(), 'order-projector', 'c, process 3', '', '5 s', '{"partitions": 1}')`)
	if out := must(t, "stream", "list"); !strings.Contains(out, "READY") {
		t.Error(out)
	}
	lines := checked(t, "FAIL", "--database", db.Config().ConnString())
	if !slices.ContainsFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "process c, process 3: ") && strings.Contains(l, "unreadable-report")
	}) {
		t.Errorf("doctor: %q", lines)
	}
}
