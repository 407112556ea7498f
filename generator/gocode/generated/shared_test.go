package generated_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/oracle"
	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/testdata/golden/behaviour/shared"
)

// Placed and then Cancelled under one key is a conflict where events share their keys, and a
// duplicate where compare says so: in one batch, in a later one, on another partition, and, for
// unique_per: consumer, in another topic. The oracle says the same.
func TestAnotherEventUnderASharedKeyIsAConflict(t *testing.T) {
	const conflicts, duplicate, applies = "conflict", "duplicate", "applied"
	db := newDatabase(t)
	for _, c := range []struct{ first, then, note, want string }{ // other than the note, the two differ in their type only
		{"declared.v1", "declared.v1", "n", conflicts},
		{"bare.v1", "bare.v1", "n", conflicts},
		{"chain.v1", "chain.v1", "n", conflicts},
		{"one.v1", "other.v1", "n", conflicts},
		{"nothing.v1", "nothing.v1", "n", duplicate},
		{"nothing.v1", "nothing.v1", "another", duplicate},
		{"list.v1", "list.v1", "n", duplicate},
		{"list.v1", "list.v1", "another", conflicts},
		{"apart.v1", "apart.v1", "n", applies},
	} {
		for _, place := range []string{"in one batch", "later", "on another partition"} {
			if place == "in one batch" && c.first != c.then || place == "on another partition" && c.first == "chain.v1" {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s, %s note", c.then, place, c.note), func(t *testing.T) {
				placed := sharedRecord(c.first, "placed", "n", 0, 0)
				cancelled := sharedRecord(c.then, "cancelled", c.note, 0, 1)
				switch {
				case place == "on another partition":
					cancelled.Partition, cancelled.Offset = 1, 0
				case c.first != c.then:
					cancelled.Offset = 0
				}
				if got := outcomesOf(t, placed, cancelled); !slices.Equal(got, []string{"applied", c.want}) {
					t.Errorf("the oracle: %v, want %s", got, c.want)
				}
				var want, got idem.Result
				want.Applied = 1
				switch c.want {
				case conflicts:
					want.Conflicts = 1
				case duplicate:
					want.Duplicates = 1
				case applies:
					want.Applied = 2
				}
				if place == "in one batch" {
					got = sharedResult(t, db, []idem.Message{placed, cancelled})
				} else {
					got = sharedResult(t, db, []idem.Message{placed}, []idem.Message{cancelled})
				}
				if got != want {
					t.Errorf("%+v, want %+v", got, want)
				}
			})
		}
	}
}

func sharedRecord(topic, typ, note string, partition int32, offset int64) idem.Message {
	return idem.Message{
		Topic: topic, Partition: partition, Offset: offset, LeaderEpoch: -1, Key: []byte("shop"),
		Value:   fmt.Appendf(nil, `{"id":"7","note":%q}`, note),
		Headers: []idem.Header{{Name: "type", Value: []byte(typ)}, {Name: "key", Value: []byte("one key")}},
	}
}

// outcomesOf are what the oracle says of records.
func outcomesOf(t *testing.T, records ...idem.Message) (all []string) {
	t.Helper()
	in := oracle.New(load(t, "../../../testdata/golden/behaviour/shared/idemgen.yaml"))
	for _, m := range records {
		r := oracle.Record{Topic: m.Topic, Partition: m.Partition, Offset: m.Offset, Key: m.Key, Value: m.Value}
		for _, h := range m.Headers {
			r.Headers = append(r.Headers, oracle.Header(h))
		}
		all = append(all, strings.ToLower(in.Apply(r).Kind.String()))
	}
	return all
}

// sharedResult applies batches, each to the partition of its first record, and compares the
// database: a row per event that took effect, a dead letter per conflict.
func sharedResult(t *testing.T, db *pgxpool.Pool, batches ...[]idem.Message) (sum idem.Result) {
	t.Helper()
	emptied(t, db)
	createTables(t, db, load(t, "../../../testdata/golden/behaviour/shared/idemgen.yaml"))
	c, err := shared.NewConsumer(db, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, batch := range batches {
		w, err := c.Own(t.Context(), batch[0].Topic, batch[0].Partition, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.Apply(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		sum.Applied += got.Applied
		sum.Duplicates += got.Duplicates
		sum.Conflicts += got.Conflicts
		sum.Dead += got.Dead
	}
	var rows, letters int64
	if err := db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM effects), (SELECT count(*) FROM idem_dead_letter WHERE reason LIKE 'conflict%')`).Scan(&rows, &letters); err != nil {
		t.Fatal(err)
	}
	if rows != sum.Applied || letters != sum.Conflicts {
		t.Errorf("%d rows and %d dead letters for %+v", rows, letters, sum)
	}
	return sum
}
