package operate_test

import (
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

func TestAdoptBeginsALedger(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID)
	remade := orders
	remade.TopicID = newID
	c, err := operate.Set(t.Context(), db, remade, operate.Target{From: halt.NoLedger, To: 5}, ann)
	if err != nil {
		t.Fatal(err)
	}
	list, err := operate.List(t.Context(), db, "projector")
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	want(t, "chain", chain(t, db, list[1].Stream), "0g 5>5 0 4") // partitions of the stream before it; any version may go on
	want(t, "who", list[1].LastOperatorRow.Info, "operator ann: a test")
	want(t, "row", c.Seq, 0)
	_, err = operate.Set(t.Context(), db, remade, operate.Target{From: halt.NoLedger, To: 5}, ann)
	refused(t, err, "has a ledger: it is at offset 5")
	remade.TopicID = ""
	_, err = operate.Set(t.Context(), db, remade, operate.Target{From: halt.NoLedger, To: 5}, ann)
	refused(t, err, "is not a topic id")
}

func TestAdoptOfAnUnknownConsumerSaysSo(t *testing.T) {
	db := database(t)
	n := operate.Name{Consumer: "projector", Topic: "orders.v1", TopicID: newID}
	_, err := operate.Set(t.Context(), db, n, operate.Target{From: halt.NoLedger, To: 5}, ann)
	refused(t, err, "give --partitions")
	c, err := operate.Set(t.Context(), db, n, operate.Target{From: halt.NoLedger, To: 5, Partitions: 2}, ann)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "effect", c.Effect, "a ledger begins at offset 5: records before it are skipped, and write no rows; the first one of consumer projector in this database")
}

// A ledger whose rows are gone begins after everything that still names its rows, and the
// worker that remembers the old ones is refused.
func TestAdoptOfALedgerThatIsGone(t *testing.T) {
	for _, rows := range []string{"keys", "dead letters", "nothing"} {
		t.Run(rows, func(t *testing.T) {
			db := database(t)
			w := begin(t, db, orders, oldID)
			w.batch(5)
			first := "0g 12>12 0 4"
			switch rows {
			case "keys":
				idemtest.Exec(t, db, `CREATE TABLE idem_keys_1 PARTITION OF idem_keys (PRIMARY KEY (key)) FOR VALUES IN (1)`)
				idemtest.Exec(t, db, `INSERT INTO idem_keys VALUES (1, gen_random_uuid(), 3, 0, $1, 1)`, w.stream)
				first = "2g 12>12 0 4"
			case "dead letters":
				idemtest.Exec(t, db, `INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) VALUES ($1, 11, 7, 'r', 'decode')`, w.stream)
				first = "8g 12>12 0 4"
			}
			idemtest.Exec(t, db, `DELETE FROM idem_ledger`)
			n := orders
			n.TopicID = oldID
			if _, err := operate.Release(t.Context(), db, orders, operate.Leave{}, ann); err == nil {
				t.Error("a row was appended to nothing")
			}
			if _, err := operate.Set(t.Context(), db, n, operate.Target{From: halt.NoLedger, To: 12, Partitions: 4}, ann); err != nil {
				t.Fatal(err)
			}
			want(t, "chain", chain(t, db, w.stream), first)
			refused(t, w.try(1), "null value in column \"prev\"")
			_, err := operate.Set(t.Context(), db, n, operate.Target{From: halt.NoLedger, To: 12}, ann)
			refused(t, err, "has a ledger")
		})
	}
}

// A transaction of the old ledger that is still open when its rows are deleted ends first.
func TestAdoptWaitsForWhatIsUnderWay(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), `INSERT INTO idem_ledger SELECT stream, 1, gen_random_uuid(), next, next + 1, 'b', 'w', 1, def, parts, 0, clock_timestamp(), NULL, NULL FROM idem_ledger`); err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, `DELETE FROM idem_ledger`)
	done := make(chan error, 1)
	go func() {
		n := orders
		n.TopicID = oldID
		_, err := operate.Set(t.Context(), db, n, operate.Target{From: halt.NoLedger, To: 12, Partitions: 4}, ann)
		done <- err
	}()
	waits(t, db)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused(t, <-done, "has a ledger: it is at offset 11")
	want(t, "chain", chain(t, db, w.stream), "1b 10>11 3 4")
}

// An adopted ledger is one of a partition that has none, whatever others the topic, the consumer
// or the database has. Where it begins, and what is new about it, is said before.
func TestWhatAnAdoptedLedgerIs(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID) // of 4 partitions
	begin(t, db, operate.Name{Consumer: "projector", Topic: "other.v1", Partition: 1}, newID)
	begin(t, db, operate.Name{Consumer: "audit", Topic: "orders.v1", Partition: 1}, oldID)
	by := ann
	by.DryRun = true
	const from5 = "a ledger begins at offset 5: records before it are skipped, and write no rows"
	of := func(consumer, topic string, partition int32, id string) operate.Name {
		return operate.Name{Consumer: consumer, Topic: topic, Partition: partition, TopicID: id}
	}
	for _, c := range []struct {
		name  operate.Name
		to    int64
		parts int32
		want  string
	}{
		{of("projector", "orders.v1", 1, oldID), 5, 0, "genesis 5 5 4 " + from5},
		{of("projector", "orders.v1", 3, oldID), 0, 0, "genesis 0 0 4 a ledger begins at offset 0: all records of the log are read"},
		{of("projector", "orders.v1", 1, newID), 5, 6, "genesis 5 5 6 " + from5},
		{of("projector", "orders.v1", 0, oldID), 5, 0, "error: orders.v1/0 of projector has a ledger: it is at offset 10 (row 0, genesis); give that as --from to move it"},
		{of("projector", "new.v1", 0, oldID), 5, 1, "genesis 5 5 1 " + from5 + "; the first one of topic new.v1, where the consumer has orders.v1, other.v1"},
		{of("projector", "new.v1", 1, oldID), 5, 1, "error: new.v1/1 of projector: the topic has 1 partition, numbered from 0: there is no partition 1"},
		{of("projector", "orders.v1", 4, oldID), 5, 0, "error: orders.v1/4 of projector: the topic has 4 partitions, numbered from 0: there is no partition 4"},
		{of("projector", "new.v1", 0, oldID), 5, 0, "error: new.v1/0 of projector: no other ledger records how many partitions the topic has: give --partitions"},
		{of("stranger", "orders.v1", 0, oldID), 5, 1, "genesis 5 5 1 " + from5 + "; the first one of consumer stranger in this database"},
	} {
		done, err := operate.Set(t.Context(), db, c.name, operate.Target{From: halt.NoLedger, To: c.to, Partitions: c.parts}, by)
		got := fmt.Sprint(done.Kind, " ", done.From, " ", done.To, " ", done.Partitions, " ", done.Effect)
		if err != nil {
			got = "error: " + err.Error()
		}
		want(t, fmt.Sprintf("%+v to %d", c.name, c.to), got, c.want)
	}
}
