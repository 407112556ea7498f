package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// checked runs doctor over the orders example, and returns the lines of one state: what they are
// about, and what was found.
func checked(t *testing.T, state string, args ...string) (lines []string) {
	t.Helper()
	code, out, stderr := run(t, append([]string{"doctor", "../../examples/orders", "--json"}, args...)...)
	var answer struct {
		Checks []struct{ State, About, Found, Advice string }
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr)
	}
	fails := false
	for _, c := range answer.Checks {
		fails = fails || c.State == "FAIL"
		if c.State == state {
			lines = append(lines, c.About+": "+c.Found)
		}
		if (c.State == "FAIL" || c.State == "warn") && c.Advice == "" {
			t.Errorf("%s: %s: nothing says what to do", c.About, c.Found)
		}
	}
	if fails != (code == different) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	return lines
}

// measures are what differs from run to run.
var measures = regexp.MustCompile(`(PostgreSQL )[0-9].* answers|[0-9][0-9.]*(?:µs|ms)`)

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	for i := range got {
		got[i] = regexp.MustCompile(`^role: \S+`).ReplaceAllString(got[i], "role: it")
		got[i] = strings.ReplaceAll(measures.ReplaceAllString(got[i], "${1}N"), "PostgreSQL N in", "PostgreSQL N answers in")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const notDurable = "durability: a commit of this server may be lost (fsync and full_page_writes: off, synchronous_commit: off)" // that of the test kit

// log is a broker with a topic of the shop, and so many records in its first partition.
func log(t *testing.T, partitions int32, records int) string {
	broker := idemtest.Kafka(t, map[string]int32{"orders.v1": partitions})
	for range records {
		if err := broker.Produce(t.Context(), &idem.Message{Topic: "orders.v1"}); err != nil {
			t.Fatal(err)
		}
	}
	return broker.Addr()
}

// A service whose database and topics are as it needs them is told so, a line for each thing. The
// position of the shop is 7.
func TestDoctorFindsAServiceWell(t *testing.T) {
	shop(t)
	brokers := log(t, 1, 9)
	wantLines(t, checked(t, "FAIL", "--brokers", brokers), notDurable)
	wantLines(t, checked(t, "ok", "--brokers", brokers),
		"spec: ../../examples/orders/idemgen.yaml is in order, and the generated files are current",
		"database: PostgreSQL N answers in N",
		"migrations: the tables of the runtime are there: core, keys",
		"tables: 3 as the spec has them",
		"kafka: the brokers answer in N",
		"topic orders.v1: 1 partitions, 1 with a ledger, 2 records not applied yet",
		"retention of orders.v1: records are kept for 7d, and their keys for 8d")
	wantLines(t, checked(t, "warn", "--brokers", brokers),
		"role: it is a superuser: run the service as a role that may do less",
		"dead letters: 2 are open", "group order-projector: no process is in it")
}

// A log that does not fit the ledger is told, with the section of the manual.
func TestDoctorComparesTheLogWithTheLedger(t *testing.T) {
	shop(t)
	wantLines(t, checked(t, "FAIL", "--brokers", log(t, 1, 6)), notDurable, "partition orders.v1/0: the log ends at 6, before the position 7")
	wantLines(t, checked(t, "FAIL", "--brokers", log(t, 2, 9)), notDurable, "partition orders.v1/0: the topic has 2 partitions, and had 1 when the ledger was written")
	other := idemtest.Kafka(t, map[string]int32{"others.v1": 1})
	wantLines(t, checked(t, "FAIL", "--brokers", other.Addr()), notDurable, "topic orders.v1: the brokers have none of this name, or hide it")
}

// What is not named is skipped, and what is missing or cannot be reached is said.
func TestDoctorSaysWhatIsMissing(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	t.Setenv("KAFKA_BROKERS", "")
	wantLines(t, checked(t, "skip"), "database: it was not looked at", "kafka: it was not looked at")
	t.Setenv("DATABASE_URL", idemtest.DB(t).Config().ConnString())
	wantLines(t, checked(t, "FAIL", "--brokers", "127.0.0.1:1"), notDurable,
		"migrations: the database lacks tables of the runtime that this service needs, or has older ones",
		"tables: there is no table orders in the database", "tables: there is no table order_items in the database", "tables: there is no table payments in the database",
		"kafka: the brokers do not answer: unable to dial: dial tcp 127.0.0.1:1: connect: connection refused")
}
