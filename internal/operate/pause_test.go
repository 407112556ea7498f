package operate_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A pause is ended by resume alone: other commands do what they say and leave the partition
// paused, in one transaction. Pausing twice, and resuming twice, appends nothing.
func TestPauseStaysUntilResume(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	w.batch(5)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET letters = 3, letters_from = 12 WHERE seq = 1`)
	const rows = "0g 10>10 3 4, 1b 10>15 3 4, 2p 15>15 3 4"
	for _, tc := range []struct {
		run          func() (operate.Change, error)
		effect, rows string
	}{
		{func() (operate.Change, error) { return operate.Resume(t.Context(), db, orders, ann) },
			"not paused (row 1, batch), nothing appended", "0g 10>10 3 4, 1b 10>15 3 4"},
		{func() (operate.Change, error) { return operate.Pause(t.Context(), db, orders, ann) },
			"nothing is applied until idemgen stream resume", rows},
		{func() (operate.Change, error) { return operate.Pause(t.Context(), db, orders, ann) },
			"paused already (row 2, pause by operator ann: a test), nothing appended", rows},
		{func() (operate.Change, error) {
			return operate.Release(t.Context(), db, orders, operate.Leave{}, ann)
		},
			"paused (row 2, pause by operator ann: a test), which idemgen stream resume ends; nothing appended", rows},
		{func() (operate.Change, error) { return operate.Resume(t.Context(), db, orders, ann) },
			"the partition continues at offset 15", rows + ", 3o 15>15 3 4"},
		{func() (operate.Change, error) { return operate.Pause(t.Context(), db, orders, ann) },
			"nothing is applied until idemgen stream resume", rows + ", 3o 15>15 3 4, 4p 15>15 3 4"},
		{func() (operate.Change, error) {
			return operate.Set(t.Context(), db, orders, operate.Target{From: 15, To: 4, ApplyAgain: true}, ann)
		},
			"11 offsets, 4 to 14, are read again: events without a known key take effect again; it stays paused",
			rows + ", 3o 15>15 3 4, 4p 15>15 3 4, 5r 15>4 3 4, 6p 4>4 3 4"},
		{func() (operate.Change, error) {
			return operate.Release(t.Context(), db, orders, operate.Leave{Partitions: 6}, ann)
		},
			"the partition retries; the topic may have 6 partitions, no longer 4; it stays paused",
			rows + ", 3o 15>15 3 4, 4p 15>15 3 4, 5r 15>4 3 4, 6p 4>4 3 4, 7o 4>4 3 6, 8p 4>4 3 6"},
	} {
		got, err := tc.run()
		if err != nil {
			t.Fatal(err)
		}
		want(t, "effect", got.Effect, tc.effect)
		want(t, "rows", chain(t, db, w.stream), tc.rows)
	}
	refused(t, w.try(1), "idem_ledger_pkey")
	var counted int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM idem_ledger WHERE seq BETWEEN 2 AND 4 AND letters = 3 AND letters_from = 12`).Scan(&counted); err != nil {
		t.Fatal(err)
	}
	want(t, "rows of a pause that keep the count of dead letters in a row", counted, 3)
}

// A command that leaves a partition paused appends both rows or none.
func TestTheRowsOfAPausedPartitionAreOneTransaction(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	if _, err := operate.Pause(t.Context(), db, orders, ann); err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, `
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$planted$$; END';
CREATE TRIGGER refuse BEFORE INSERT ON idem_ledger FOR EACH ROW WHEN (NEW.kind = 'p') EXECUTE FUNCTION refuse()`)
	_, err := operate.Set(t.Context(), db, orders, operate.Target{From: halt.Anywhere, To: 12}, ann)
	refused(t, err, "planted")
	want(t, "rows", chain(t, db, w.stream), "0g 10>10 3 4, 1p 10>10 3 4")
}

// Pausing a partition that is halted says so, and which partitions have no ledger is known.
func TestPauseSaysWhatElseIsSo(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID)
	second := orders
	second.Partition = 2
	begin(t, db, second, oldID)
	halted(t, db, "record-refused")
	got, err := operate.Pause(t.Context(), db, orders, ann)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "effect", got.Effect, "nothing is applied until idemgen stream resume; it is halted (record-refused), and retries then")
	present, err := operate.Present(t.Context(), db, orders.Consumer, orders.Topic)
	if err != nil {
		t.Fatal(err)
	}
	var without []int32
	for _, c := range operate.Unpaused(present) {
		without = append(without, c.Partition)
		if !strings.HasPrefix(c.Effect, "NOT paused: it has no ledger yet") || c.Topic != orders.Topic || c.Appended {
			t.Errorf("%+v", c)
		}
	}
	if len(without) != 2 || without[0] != 1 || without[1] != 3 {
		t.Errorf("without a ledger: %v", without)
	}
}

// halted makes a process report partition 0 of orders as halted.
func halted(t *testing.T, db *pgxpool.Pool, code string) {
	t.Helper()
	idemtest.Exec(t, db, `INSERT INTO idem_process (process, consumer, name, version, seen_at, every, report)
VALUES (gen_random_uuid(), $1, 'a, process 1', '', clock_timestamp(), '5 s', $2)`, orders.Consumer,
		`{"partitions": [{"topic": "orders.v1", "partition": 0, "state": "HALTED", "code": "`+code+`"}]}`)
}
