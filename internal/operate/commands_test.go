package operate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Each command appends one row of its kind; the worker that held the partition cannot append
// any more; and every row names its operator.
func TestCommandsAppendOneRow(t *testing.T) {
	for name, tc := range map[string]struct {
		run   func(t *testing.T, db operate.DB, by operate.By) (operate.Change, error)
		want  string
		epoch int // of the last record before the position
	}{
		"confirm": {func(t *testing.T, db operate.DB, by operate.By) (operate.Change, error) {
			return operate.Release(t.Context(), db, orders, operate.Leave{Partitions: 6}, by)
		}, "2o 15>15 3 6", 7},
		"confirm fewer": {func(t *testing.T, db operate.DB, by operate.By) (operate.Change, error) {
			return operate.Release(t.Context(), db, orders, operate.Leave{Partitions: 3, Fewer: true}, by)
		}, "2o 15>15 3 3", 7},
		"skip": {func(t *testing.T, db operate.DB, by operate.By) (operate.Change, error) {
			return operate.Set(t.Context(), db, orders, operate.Target{From: 15, To: 20}, by)
		}, "2s 15>20 3 4", -1},
		"rewind": {func(t *testing.T, db operate.DB, by operate.By) (operate.Change, error) {
			return operate.Set(t.Context(), db, orders, operate.Target{From: halt.Anywhere, To: 0, ApplyAgain: true}, by)
		}, "2r 15>0 3 4", -1},
		"position that stays": {func(t *testing.T, db operate.DB, by operate.By) (operate.Change, error) {
			return operate.Set(t.Context(), db, orders, operate.Target{From: 15, To: 15}, by)
		}, "2o 15>15 3 4", -1},
		"release": {func(t *testing.T, db operate.DB, by operate.By) (operate.Change, error) {
			return operate.Release(t.Context(), db, orders, operate.Leave{}, by)
		}, "2o 15>15 3 4", 7},
		"pause": {func(t *testing.T, db operate.DB, by operate.By) (operate.Change, error) {
			return operate.Pause(t.Context(), db, orders, by)
		}, "2p 15>15 3 4", 7},
		"release for an older version": {func(t *testing.T, db operate.DB, by operate.By) (operate.Change, error) {
			return operate.Release(t.Context(), db, orders, operate.Leave{Older: true}, by)
		}, "2o 15>15 0 4", 7},
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			w := begin(t, db, orders, oldID)
			w.batch(5)
			const before = "0g 10>10 3 4, 1b 10>15 3 4"
			dry, err := tc.run(t, db, operate.By{Operator: "ann", Reason: "a test", DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			want(t, "after a dry run", chain(t, db, w.stream), before)
			got, err := tc.run(t, db, ann)
			if err != nil {
				t.Fatal(err)
			}
			want(t, "chain", chain(t, db, w.stream), before+", "+tc.want)
			dry.Appended = true
			want(t, "what the dry run said", dry, got)
			list, err := operate.List(t.Context(), db, "projector")
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			want(t, "last operator's row", list[0].LastOperatorRow.Info, "operator ann: a test")
			want(t, "its number", list[0].LastOperatorRow.Seq, 2)
			want(t, "position", list[0].Tail.Position, got.To)
			want(t, "rows whose keys are remembered", list[0].Tail.WindowRows, 3)
			var epoch int
			if err := db.QueryRow(t.Context(), `SELECT epoch FROM idem_ledger WHERE seq = 2`).Scan(&epoch); err != nil {
				t.Fatal(err)
			}
			want(t, "epoch", epoch, tc.epoch)
			refused(t, w.try(1), "idem_ledger_pkey")
		})
	}
}

// A command for one state of a partition does nothing in another.
func TestCommandsRefuseWhatTheyCannotMean(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	w.batch(5)
	ctx := t.Context()
	skip := func(from, to int64, by operate.By) error {
		_, err := operate.Set(ctx, db, orders, operate.Target{From: from, To: to}, by)
		return err
	}
	rewind := func(from, to int64, again bool) error {
		_, err := operate.Set(ctx, db, orders, operate.Target{From: from, To: to, ApplyAgain: again}, ann)
		return err
	}
	release := func(n operate.Name) error {
		_, err := operate.Release(ctx, db, n, operate.Leave{}, ann)
		return err
	}
	refused(t, skip(halt.Anywhere, 15, ann), "is at offset 15 already (row 1, batch)")
	refused(t, skip(halt.Anywhere, 12, ann), "and 12 is before it")
	refused(t, skip(0, 20, ann), "is at offset 15 (row 1, batch), not 0")
	refused(t, skip(14, 20, ann), "is at offset 15 (row 1, batch), not 14")
	refused(t, skip(halt.Anywhere, 20, operate.By{Operator: "ann"}), "a reason is required")
	refused(t, rewind(-1, 16, true), "only moves back")
	refused(t, rewind(14, 10, true), "not 14")
	refused(t, rewind(-1, 10, false), "--apply-again")
	refused(t, rewind(-1, -5, true), "no offset -5")
	refused(t, release(operate.Name{Consumer: "projector", Topic: "orders.v1", Partition: 9}), "no ledger of orders.v1/9 of projector; it has partitions 0")
	refused(t, release(operate.Name{Consumer: "projector", Topic: "order.v1"}), "it has topics orders.v1")
	refused(t, release(operate.Name{Consumer: "protector", Topic: "orders.v1"}), "it has consumers projector")
	refused(t, release(operate.Name{Consumer: "projector", Topic: "orders.v1", TopicID: newID}), "it has partitions 0 (topic id "+oldID)
	refused(t, release(operate.Name{Consumer: "projector", Topic: "orders.v1", TopicID: "x"}), "is not a topic id")
	_, err := operate.Release(ctx, db, orders, operate.Leave{Partitions: 3}, ann)
	refused(t, err, "already records 4 partitions (row 1, batch), and 3 are fewer")
	want(t, "chain", chain(t, db, w.stream), "0g 10>10 3 4, 1b 10>15 3 4")
	refused(t, func() error { _, err := operate.List(ctx, idemtest.DB(t), ""); return err }(), "lacks the runtime's tables")
}

// A number that the ledger has is confirmed without a row: the worker that holds the
// partition goes on.
// A refusal says who appended the last row; that dead letters stand after a batch is no name.
func TestRefusalSaysWhoAppendedTheLastRow(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	refused := func(info, writer, text string) {
		t.Helper()
		idemtest.Exec(t, db, fmt.Sprintf("UPDATE idem_ledger SET info = '%s', writer = '%s' WHERE seq = %d", info, writer, w.tail.Seq))
		if _, err := operate.Set(t.Context(), db, orders, operate.Target{From: halt.Anywhere, To: 5}, ann); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	refused("host, process 1", "w", "(row 0, genesis by host, process 1)")
	refused("handed back by host", "h", "(row 0, genesis, handed back by host)")
	w.batch(5)
	refused("", "w", "(row 1, batch), and")
}

func TestConfirmedAlready(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	w.batch(5)
	for _, by := range []operate.By{ann, {Operator: "ann", Reason: "a test", DryRun: true}} {
		got, err := operate.Release(t.Context(), db, orders, operate.Leave{Partitions: 4}, by)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "change", got, operate.Change{
			Name: operate.Name{Consumer: "projector", Topic: "orders.v1", TopicID: oldID}, Seq: 1, From: 15, To: 15,
			Partitions: 4, Identity: "00000003", Effect: "already 4 partitions, nothing appended",
		})
	}
	w.batch(1)
	want(t, "chain", chain(t, db, w.stream), "0g 10>10 3 4, 1b 10>15 3 4, 2b 15>16 3 4")
}

// Without a name the row is the database role's.
func TestOperatorIsTheRoleByDefault(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID)
	var role string
	if err := db.QueryRow(t.Context(), `SELECT session_user`).Scan(&role); err != nil {
		t.Fatal(err)
	}
	c, err := operate.Release(t.Context(), db, orders, operate.Leave{}, operate.By{Reason: " two\nlines "})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "info", c.Info, "operator "+role+": two lines")
}

// A ledger that is adopted under a mistyped topic id is not the topic's, once the service has
// gone on.
func TestMistypedTopicIDIsNotThePresentOne(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	w.batch(5)
	typo := orders
	typo.TopicID = newID
	if _, err := operate.Set(t.Context(), db, typo, operate.Target{From: halt.NoLedger, To: 0}, ann); err != nil {
		t.Fatal(err)
	}
	w.batch(5)
	list, err := operate.List(t.Context(), db, "")
	if err != nil || len(list) != 2 || list[0].Former || !list[1].Former {
		t.Errorf("the living ledger is marked: %+v, %v", list, err)
	}
	done, err := operate.Set(t.Context(), db, orders, operate.Target{From: halt.Anywhere, To: 30}, ann)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "skipped in", done.TopicID, oldID)
}

func TestListShowsEveryStream(t *testing.T) {
	db := database(t)
	other := operate.Name{Consumer: "audit", Topic: "orders.v1", Partition: 1}
	w := begin(t, db, orders, oldID)
	begin(t, db, other, oldID)
	w.batch(5)
	again := begin(t, db, orders, newID)
	gone := begin(t, db, operate.Name{Consumer: "projector", Topic: "orders.v1", Partition: 2}, newID)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE stream = $1`, gone.stream)
	idemtest.Exec(t, db, `INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) VALUES ($1, 11, 1, 'd', 'decode'), ($1, 12, 1, 'w', 'decode'), ($1, 13, 1, 'r', 'decode')`, w.stream)
	list, err := operate.List(t.Context(), db, "")
	if err != nil {
		t.Fatal(err)
	}
	var ids []int32
	for _, s := range list {
		ids = append(ids, s.Stream)
	}
	if len(ids) != 4 || ids[0] == w.stream || ids[1] != w.stream || ids[2] != again.stream || ids[3] != gone.stream {
		t.Errorf("streams in the order %v", ids)
	}
	if list[0].Former || !list[1].Former || list[2].Former || list[3].Former {
		t.Errorf("the stream of the topic's former id is not marked, or another one is: %+v", list)
	}
	_, err = operate.List(t.Context(), db, "nobody")
	refused(t, err, "no ledger of consumer nobody; it has consumers audit, projector")
	s := list[1]
	want(t, "open dead letters", s.OpenDeadLetters, 2)
	want(t, "kind", s.Tail.Kind, "batch")
	want(t, "rows of the window", s.Tail.WindowRows, 2)
	want(t, "partitions", s.Tail.Partitions, 4)
	want(t, "identity", s.Tail.Identity, "00000003")
	want(t, "last operator's row", s.LastOperatorRow, nil)
	want(t, "tail of a ledger without rows", list[3].Tail, nil)
	names, err := operate.Present(t.Context(), db, "projector", "orders.v1")
	if err != nil || len(names) != 2 || names[0].TopicID != newID || names[1].Partition != 2 {
		t.Errorf("partitions as the topic is now: %v, %v", names, err)
	}
}
