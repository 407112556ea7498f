package member_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A service that stands or waits, with 3,000 records before it, does not look like one whose
// topic is idle: its lag grows, in records and in time.
func TestLagOfAServiceThatStandsGrows(t *testing.T) {
	for name, freeze := range map[string]func(t *testing.T, db *pgxpool.Pool){
		"halted": func(t *testing.T, db *pgxpool.Pool) { idemtest.Exec(t, db, `ALTER TABLE diary RENAME offs TO place`) },
		"waiting for a lock": func(t *testing.T, db *pgxpool.Pool) {
			tx, err := db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
			if _, err := tx.Exec(t.Context(), `LOCK TABLE diary`); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			withBoth(t, func(t *testing.T, k kind) {
				_, brokers := startCluster(t, 1)
				db := diaryDB(t)
				c := consumer(t, db)
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- c.Run(ctx, open(t, brokers, k)) }()
				t.Cleanup(func() {
					cancel()
					if err := <-done; err != nil {
						t.Error(err)
					}
				})
				account := func() idem.PartitionStats {
					if all := c.Stats().Partitions; len(all) == 1 {
						return all[0]
					}
					return idem.PartitionStats{}
				}
				produce(t, brokers, 100, 0)
				eventually(t, "100 records, no lag", func() bool {
					a := account()
					return a.Applied == 100 && a.End == 100 && a.Lag == 0 && a.LagTime == 0 && c.Health().Err() == nil
				})
				freeze(t, db)
				for n := int64(1); n <= 3; n++ {
					produce(t, brokers, 1000, 0)
					eventually(t, "the lag grows", func() bool { return account().Lag == 1000*n })
				}
				before := account()
				time.Sleep(300 * time.Millisecond)
				if after := account(); after.LagTime < before.LagTime+300*time.Millisecond || after.Position != 100 {
					t.Errorf("the lag was %+v and is %+v", before, after)
				}
				eventually(t, "Health tells", func() bool { return c.Health().Err() != nil })
				if err := c.Health().Err(); !strings.HasPrefix(err.Error(), topicName+"/0: ") {
					t.Error(err)
				}
			})
		})
	}
}
