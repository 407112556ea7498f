package operators

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/kit/port"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// timed is a broker with two partitions of orders.v1, of ten and six records a minute apart from
// 10:00 on, and a database in which both are at offset 4.
func timed(t *testing.T) (db *pgxpool.Pool, brokers string) {
	t.Helper()
	db = someLedgers(t)
	broker := idemtest.Kafka(t, map[string]int32{"orders.v1": 2})
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	first := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	for partition, n := range []int{10, 6} {
		for i := range n {
			r := &kgo.Record{Topic: "orders.v1", Partition: int32(partition), Timestamp: first.Add(time.Duration(i) * time.Minute)}
			if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	details, err := kadm.NewClient(client).ListTopics(t.Context(), "orders.v1")
	if err != nil {
		t.Fatal(err)
	}
	id := details["orders.v1"].ID
	idemtest.Exec(t, db, fmt.Sprintf(`UPDATE idem_stream SET topic_id = '%x'; UPDATE idem_ledger SET prev = 4, next = 4`, id[:]))
	return db, broker.Addr()
}

// A position is set to the first record at or after a time, or to the end of the partition.
func TestSetAtATime(t *testing.T) {
	t.Parallel()
	db, brokers := timed(t)
	set := append(strings.Fields("stream set --topic orders.v1 --operator ann --reason why --brokers "+brokers), at(db))
	const again = "events without a known key take effect again"
	for _, tc := range []struct{ args, first, second string }{
		{"--at 2026-11-27T10:06:00Z --dry-run",
			"would append row 1 (skip), offset 4 -> 6: 2 offsets, 4 to 5, pass without effect (offset 6: the first record at or after 2026-11-27T10:06:00Z)",
			"would append row 1 (skip), offset 4 -> 6: 2 offsets, 4 to 5, pass without effect (offset 6: no record at or after 2026-11-27T10:06:00Z, so the end of the partition)"},
		{"--at 2026-11-27T11:06:00.0005+01:00 --dry-run", // brokers count milliseconds
			"would append row 1 (skip), offset 4 -> 7: 3 offsets, 4 to 6, pass without effect (offset 7: the first record at or after 2026-11-27T11:06:00.0005+01:00)",
			"would append row 1 (skip), offset 4 -> 6: 2 offsets, 4 to 5, pass without effect (offset 6: no record at or after 2026-11-27T11:06:00.0005+01:00, so the end of the partition)"},
		{"--at 2026-11-27T10:04:00Z",
			"stays at offset 4, nothing appended (offset 4: the first record at or after 2026-11-27T10:04:00Z)",
			"stays at offset 4, nothing appended (offset 4: the first record at or after 2026-11-27T10:04:00Z)"},
		{"--partition 1 --at 2026-11-27T10:05:00Z",
			"", "appended row 1 (skip), offset 4 -> 5: 1 offset, 4, passes without effect (offset 5: the first record at or after 2026-11-27T10:05:00Z)"},
		{"--at 2026-11-27T10:04:30Z --apply-again", // the first one is before it, and reads those records in any case
			"stays at offset 4, nothing appended (offset 5: the first record at or after 2026-11-27T10:04:30Z)",
			"stays at offset 5, nothing appended (offset 5: the first record at or after 2026-11-27T10:04:30Z)"},
		{"--at 0001-01-01T00:00:00Z --apply-again", // milliseconds below 0 have a meaning of their own
			"appended row 1 (rewind), offset 4 -> 0: 4 offsets, 0 to 3, are read again: " + again + " (offset 0: the first record at or after 0001-01-01T00:00:00Z)",
			"appended row 2 (rewind), offset 5 -> 0: 5 offsets, 0 to 4, are read again: " + again + " (offset 0: the first record at or after 0001-01-01T00:00:00Z)"},
	} {
		var want string
		for partition, text := range []string{tc.first, tc.second} {
			if text != "" {
				want += fmt.Sprintf("orders.v1/%d of projector: %s\n", partition, text)
			}
		}
		got := must(t, append(set, strings.Fields(tc.args)...)...)
		if got = strings.ReplaceAll(got, `. "operator ann: why"`, ""); got != want {
			t.Errorf("%s:\n%swant\n%s", tc.args, got, want)
		}
	}
}

// What --at cannot mean is refused, and changes nothing.
func TestSetAtATimeIsRefused(t *testing.T) {
	t.Parallel()
	db, brokers := timed(t)
	nobody, err := port.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and answers nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	const moment = "--at 2026-11-27T10:02:00Z"
	set := append(strings.Fields("stream set --topic orders.v1 --reason why"), at(db))
	asking := slices.Concat(set, []string{"--brokers", brokers})
	for _, tc := range []struct{ args, want string }{
		{moment, "orders.v1/0 of projector is at offset 4 (row 0, genesis by host, process 1), and 2 is before it: records that were applied take effect again, " +
			"unless they have a key that is still known; confirm with --apply-again; nothing was appended to any partition"},
		{"--at 2026-11-27T10:02:00 --apply-again", `--at cannot be "2026-11-27T10:02:00": want a time with its zone, such as 2026-11-27T22:00:00Z or 2026-11-27T23:00:00+01:00`},
		{moment + " --partition 0 --to 3", "want either --to or --at TIME"},
		{"--partition 0", "want either --to or --at TIME"},
		{moment + " --from 4", "--from OFFSET applies to one partition"},
		{moment + " --partition 0 --from none --topic-id " + id2, "--at moves partitions that have a ledger: with --from none give --to"},
		{moment + " --brokers " + nobody, "the brokers do not respond within 10s, and only they know the offsets of a time: "},
		{moment + " --brokers " + silent.Addr().String(), "the brokers do not respond within 10s, and only they know the offsets of a time: "},
	} {
		if testing.Short() && strings.Contains(tc.want, "10s") {
			continue
		}
		refused(t, tc.want, slices.Concat(asking, strings.Fields(tc.args))...)
	}
	idemtest.Exec(t, db, `UPDATE idem_stream SET topic_id = $1`, id2)
	refused(t, "the ledger is about "+id2, slices.Concat(asking, strings.Fields("--apply-again "+moment))...)
	refused(t, "--brokers or $KAFKA_BROKERS missing", slices.Concat(set, strings.Fields("--apply-again "+moment))...)
	var rows int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM idem_ledger`).Scan(&rows); err != nil || rows != 2 {
		t.Errorf("%d rows, %v", rows, err)
	}
}
