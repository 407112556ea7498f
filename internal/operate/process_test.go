package operate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// reports inserts the row of a process that was written so many seconds ago, and reports
// partitions of orders.v1 as "partition state code".
func reports(t testing.TB, db *pgxpool.Pool, name string, ago int, partitions ...string) {
	t.Helper()
	var all []string
	for _, text := range partitions {
		var number int
		var state, code string
		_, _ = fmt.Sscan(text, &number, &state, &code) // a code is optional
		all = append(all, fmt.Sprintf(`{"topic": "orders.v1", "partition": %d, "state": %q, "since": "2026-01-01T12:00:00Z", "position": 11, "end": -1, "lag": -1,
			"lag_seconds": 1.5, "applied": 4, "duplicates": 5, "dead": 6, "code": %q, "reason": "because", "do": "act"}`, number, state, code))
	}
	idemtest.Exec(t, db, `INSERT INTO idem_process (process, consumer, name, version, seen_at, every, report)
		VALUES (gen_random_uuid(), 'projector', $1, 'v1', clock_timestamp() - $2::int * interval '1 s', '5 s', $3)`,
		name, ago, `{"problems": [{"code": "joining", "since": "2026-01-01T12:00:00Z", "reason": "not yet", "do": "wait"}], "partitions": [`+strings.Join(all, ",")+`], "more": 7}`)
}

func TestProcessesAreReadAsTheyReport(t *testing.T) {
	db := database(t)
	reports(t, db, "b, process 2", 40)
	reports(t, db, "a, process 1", 3, "0 HALTED runtime")
	all, err := operate.Processes(t.Context(), db, "projector")
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	p := all[0]
	if p.Name != "a, process 1" || p.Consumer != "projector" || p.Version != "v1" || p.More != 7 || len(p.ID) != 36 || p.AgeSeconds < 3 || p.SeenAt.IsZero() || p.StartedAt.IsZero() {
		t.Errorf("got %+v", p)
	}
	if len(p.Problems) != 1 || p.Problems[0].Code != "joining" || p.Problems[0].Reason != "not yet" || p.Problems[0].Do != "wait" {
		t.Errorf("problems: %+v", p.Problems)
	}
	r := p.Partitions[0]
	r.AgeSeconds = 0
	want(t, "since", r.Since.Format("15:04"), "12:00")
	since := r.Since
	want(t, "the partition", fmt.Sprint(r), fmt.Sprint(operate.Reported{Process: "a, process 1", Assigned: process.Assigned{
		Topic: "orders.v1", State: "HALTED", Since: since, Position: 11, End: -1, Lag: -1, LagSeconds: 1.5,
		Applied: 4, Duplicates: 5, Dead: 6, Code: "runtime", Reason: "because", Do: "act",
	}}))
	want(t, "silent", fmt.Sprint(p.Silent, r.Silent, all[1].Silent), "false false true")
	if all[1].Partitions == nil {
		t.Error("a list is null")
	}
	if none, err := operate.Processes(t.Context(), db, "other"); err != nil || len(none) != 0 {
		t.Errorf("of another consumer: %+v, %v", none, err)
	}
	if all, err := operate.Processes(t.Context(), db, ""); err != nil || len(all) != 2 {
		t.Errorf("of all consumers: %+v, %v", all, err)
	}
}

// A row that cannot be read is one process's: it has a problem, and every other process and stream
// is what it is without it.
func TestEachRowOfAProcessIsJudgedAlone(t *testing.T) {
	const times = `seen_at, every, started_at, report) VALUES (gen_random_uuid(), 'other', 'bad', '', `
	for name, values := range map[string]string{
		"no JSON object":           `now(), '5 s', now(), '"SECRET"'`,
		"partitions that are none": `now(), '5 s', now(), '{"partitions": "SECRET"}'`,
		"a number that is none":    `now(), '5 s', now(), '{"partitions": [{"topic": "orders.v1", "partition": 0, "lag": 1e400}]}'`,
		"a partition that is none": `now(), '5 s', now(), '{"partitions": [{"topic": "orders.v1", "partition": 0}, null]}'`,
		"a time that is none":      `now(), '5 s', now(), '{"problems": [{"code": "x", "since": "SECRET"}]}'`,
		"too much":                 `now(), '5 s', now(), jsonb_build_object('group', repeat('SECRET', 6000000))`,
		"seen in no year":          `'infinity', '5 s', now(), '{}'`,
		"seen before any":          `'-infinity', '5 s', now(), '{}'`,
		"began in no year":         `now(), '5 s', 'infinity', '{}'`,
		"began far away":           `now(), '5 s', '200000-01-01', '{}'`,
		"never writes":             `now(), '178000000 years', now(), '{}'`,
		"writes before":            `now(), '-1 s', now(), '{}'`,
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			begin(t, db, orders, oldID)
			reports(t, db, "good", 1, "0 HALTED runtime")
			idemtest.Exec(t, db, `INSERT INTO idem_process (process, consumer, name, version, `+times+values+`)`)
			all, err := operate.Processes(t.Context(), db, "")
			if err != nil || len(all) != 2 {
				t.Fatalf("%+v, %v", all, err)
			}
			bad, good := all[0], all[1]
			if len(bad.Problems) != 1 || bad.Problems[0].Code != operate.Unreadable || bad.Problems[0].Do == "" || len(bad.Partitions) != 0 {
				t.Errorf("the row that cannot be read: %+v", bad)
			}
			if good.Name != "good" || len(good.Partitions) != 1 || good.Problems[0].Code != "joining" {
				t.Errorf("the other one: %+v", good)
			}
			if text, err := json.Marshal(all); err != nil || strings.Contains(string(text), "SECRET") {
				t.Errorf("%s, %v", text, err)
			}
			streams, err := operate.List(t.Context(), db, "")
			if err != nil || len(streams) != 1 || streams[0].Reported.Unknown() != "" || streams[0].Reported.State != "HALTED" {
				t.Errorf("streams: %+v, %v", streams, err)
			}
		})
	}
}

// A way out of a halt is about the partition that it is reported of, whatever the row says: a
// button or a copied command must not change another one. One that no process writes is left out.
func TestWaysAreAboutTheirPartition(t *testing.T) {
	const own = "idemgen stream release --consumer projector --topic orders.v1 --partition 0 --reason runtime"
	db := database(t)
	begin(t, db, orders, oldID)
	for ways, want := range map[string]string{
		`{"code": "runtime"}`: own,
		`{"code": "runtime", "consumer": "other", "topic": "payments.v1", "partition": 1}`: own,
		`{"code": "partitions-changed", "all": true, "partitions": 12}`:                    "idemgen stream release --consumer projector --topic orders.v1 --all --partitions 12 --reason partitions-changed",
		`{"code": "runtime; reboot"}`:                                                      "",
		`{"code": "runtime", "topic_id": "$(reboot)"}`:                                     "",
		`{"code": "runtime", "move": {"from": -3, "to": 1}}`:                               "",
		`{"code": "runtime", "move": {"from": 1, "to": -1}}`:                               "",
		`{"code": "runtime", "partitions": -1}`:                                            "",
		`{"code": "runtime", "partitions": -1}, {"code": "runtime"}`:                       own,
	} {
		for _, do := range []string{"wait", "idemgen dead discard orders.v1 --all"} {
			idemtest.Exec(t, db, `DELETE FROM idem_process; INSERT INTO idem_process (process, consumer, name, version, every, report) VALUES (gen_random_uuid(), 'projector', 'a', '', '5 s',
				'{"partitions": [{"topic": "orders.v1", "partition": 0, "state": "HALTED", "code": "runtime", "do": "`+do+`", "ways": [`+ways+`]}]}')`)
			all, err := operate.List(t.Context(), db, "")
			if err != nil || len(all) != 1 {
				t.Fatalf("%+v, %v", all, err)
			}
			r, got := all[0].Reported, ""
			if len(r.Ways) > 0 {
				got = r.Ways[0].String()
			}
			if got != want || want != "" && r.Do != want || want == "" && (r.Do == do) != (do == "wait") {
				t.Errorf("%s with %q: %q, and %q is what to do", ways, do, got, r.Do)
			}
		}
	}
}

// Of several processes that report a partition the one that has it counts. One that no longer
// writes counts only if there is no other.
func TestPartitionIsReportedByItsOwner(t *testing.T) {
	for name, tc := range map[string]struct {
		says func(db *pgxpool.Pool)
		want string
	}{
		"nobody":            {func(*pgxpool.Pool) {}, "not known: no process reports it"},
		"another partition": {func(db *pgxpool.Pool) { reports(t, db, "a", 0, "1 READY") }, "not known: no process reports it"},
		"silent":            {func(db *pgxpool.Pool) { reports(t, db, "a", 40, "0 READY") }, "not known: a has been silent for 40s"},
		"ready":             {func(db *pgxpool.Pool) { reports(t, db, "a", 1, "0 READY") }, "READY a"},
		"owner and standby": {func(db *pgxpool.Pool) { reports(t, db, "a", 2, "0 READY"); reports(t, db, "b", 1, "0 STANDBY standby") }, "READY a"},
		"halted owner and standby": {func(db *pgxpool.Pool) {
			reports(t, db, "a", 2, "0 STANDBY standby")
			reports(t, db, "b", 4, "0 HALTED runtime")
		}, "HALTED b"},
		"silent owner and standby": {func(db *pgxpool.Pool) {
			reports(t, db, "a", 40, "0 READY")
			reports(t, db, "b", 1, "0 STANDBY standby")
		}, "STANDBY b"},
		"silent, and another one wrote since": {func(db *pgxpool.Pool) {
			reports(t, db, "a", 40, "0 READY")
			idemtest.Exec(t, db, `UPDATE idem_ledger SET kind = 'f', written_at = clock_timestamp() - interval '30 seconds'`)
		}, "not known: no process reports it"},
		"silent, and an operator wrote since": {func(db *pgxpool.Pool) {
			reports(t, db, "a", 40, "0 READY")
			idemtest.Exec(t, db, `UPDATE idem_ledger SET kind = 'o'`)
		}, "not known: a has been silent for 40s"},
		"two owners": {func(db *pgxpool.Pool) { reports(t, db, "a", 9, "0 READY"); reports(t, db, "b", 2, "0 READY") }, "READY b"},
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			begin(t, db, orders, oldID)
			tc.says(db)
			for what, ask := range map[string]func() ([]operate.Status, error){
				"List":    func() ([]operate.Status, error) { return operate.List(t.Context(), db, "") },
				"Present": func() ([]operate.Status, error) { return operate.Present(t.Context(), db, "projector", "orders.v1") },
			} {
				all, err := ask()
				if err != nil || len(all) == 0 || all[0].NoLedger() {
					t.Fatalf("%s: %+v, %v", what, all, err)
				}
				r := all[0].Reported
				got := r.Unknown()
				if got == "" {
					got = r.State + " " + r.Process
				}
				want(t, what, got, tc.want)
			}
		})
	}
}

// A partition whose service as a whole makes no progress does not look well.
func TestProblemOfTheServiceIsOneOfItsPartitions(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID)
	reports(t, db, "a", 1, "0 READY")
	all, err := operate.List(t.Context(), db, "projector")
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if r := all[0].Reported; !r.Stopped() || r.State != "READY" || r.Code != "joining" || r.Reason != "not yet" || r.Do != "wait" {
		t.Errorf("got %+v", r)
	}
	processes, err := operate.Processes(t.Context(), db, "projector")
	if err != nil || processes[0].Partitions[0].Stopped() {
		t.Errorf("the process itself: %+v, %v", processes, err)
	}
}

// What processes report is about the present topic.
func TestFormerStreamHasNoReport(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID)
	begin(t, db, orders, newID)
	reports(t, db, "a", 0, "0 READY")
	all, err := operate.List(t.Context(), db, "projector")
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, s := range all {
		want(t, fmt.Sprint("former ", s.Former), s.Reported == nil, s.Former)
	}
}

// A partition that a process reports is in the list even without a ledger: a halt is not hidden.
// What works on ledgers does not get it.
func TestListHasPartitionsWithoutLedger(t *testing.T) {
	db := database(t)
	reports(t, db, "a", 1, "2 HALTED ledger-missing")
	reports(t, db, "b", 3, "2 STANDBY standby", "0 READY")
	list := func(consumer string) (lines []string) {
		t.Helper()
		all, err := operate.List(t.Context(), db, consumer)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			lines = append(lines, fmt.Sprint(s.Name, " ", s.NoLedger(), s.Tail == nil, " ", s.Reported.State))
		}
		return lines
	}
	const halted = "orders.v1/2 of projector true true HALTED"
	for _, consumer := range []string{"", "projector"} {
		want(t, "before the first ledger", fmt.Sprint(list(consumer)), fmt.Sprint([]string{"orders.v1/0 of projector true true READY", halted}))
	}
	if _, err := operate.List(t.Context(), db, "nobody"); err == nil {
		t.Error("a consumer that nobody knows")
	}
	begin(t, db, orders, oldID)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger`)
	want(t, "one whose rows are gone", fmt.Sprint(list("projector")), fmt.Sprint([]string{"orders.v1/0 of projector false true READY", halted}))
	present, err := operate.Present(t.Context(), db, "projector", "orders.v1")
	if err != nil || len(present) != 1 || present[0].NoLedger() {
		t.Errorf("present: %+v, %v", present, err)
	}
}

// A database of an earlier version has no such table.
func TestDatabaseWithoutReports(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID)
	idemtest.Exec(t, db, `DROP TABLE idem_process`)
	if all, err := operate.List(t.Context(), db, ""); err != nil || len(all) != 1 || all[0].Reported != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := operate.Processes(t.Context(), db, ""); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
