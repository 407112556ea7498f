package member_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// An idle partition follows what happens to its ledger without a new record: what an operator
// rewound, and what a failover took back, is applied again.
func TestIdlePartitionIsAppliedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, db *pgxpool.Pool)
		rows   int
	}{
		"an operator rewinds": {func(t *testing.T, db *pgxpool.Pool) {
			n := operate.Name{Consumer: "orders", Topic: topicName}
			if _, err := operate.Set(t.Context(), db, n, operate.Target{From: 100, To: 60, ApplyAgain: true}, operate.By{Reason: "a test"}); err != nil {
				t.Fatal(err)
			}
		}, 140},
		"a failover loses the end": {func(t *testing.T, db *pgxpool.Pool) {
			idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE next > 60; DELETE FROM diary WHERE offs >= 60`)
		}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			withBoth(t, func(t *testing.T, k kind) {
				_, brokers := startCluster(t, 1)
				db := diaryDB(t)
				rows := func() int { return query(t, db, `SELECT count(*)::int FROM diary`) }
				c := consumer(t, db)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- c.Run(ctx, open(t, brokers, k)) }()
				produce(t, brokers, 60, 0)
				eventually(t, "60 records", func() bool { return rows() == 60 })
				produce(t, brokers, 40, 0)
				eventually(t, "40 more", func() bool { return rows() == 100 })
				test.change(t, db)
				eventually(t, "40 of them again", func() bool {
					return rows() == test.rows && query(t, db, `SELECT max(next)::int FROM idem_ledger WHERE seq = (SELECT max(seq) FROM idem_ledger)`) == 100
				})
				if n := query(t, db, `SELECT count(DISTINCT offs)::int FROM diary`); n != 100 {
					t.Errorf("%d records took effect, want 100", n)
				}
				eventually(t, "health", func() bool { return c.Health().Err() == nil })
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A partition that waits for a record in standby is asked about, too.
func TestIdleStandbyIsAskedAgain(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		produce(t, brokers, 100, 0)
		l := newLedger()
		sink := newSink(t, l)
		p := idem.Partition{Topic: topicName}
		fenceOnce(sink, p, 0, 100)
		var changed atomic.Bool
		sink.answer = func(context.Context, idem.Partition) (idem.TakeOver, error) {
			return idem.TakeOver{At: idem.Position{Offset: 100, Epoch: -1}, Now: changed.Load()}, nil
		}
		sink.idle = func() error {
			if changed.Swap(true) {
				return nil
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.next[p] = 40 // an operator rewound it
			return &idem.FencedError{Partition: p, Reason: "the ledger has changed"}
		}
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "the end", func() bool { return l.count() == 60 && l.position(p) == 100 })
		delivered(t, l, p, numbers(100)[40:])
	})
}

// Behind the last record of a topic that is written in transactions stands a marker. If
// retention removes both while nothing is read, nothing was lost, and nothing halts.
func TestRetentionOfMarkersIsNoLoss(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		db := diaryDB(t)
		run := func(until func() bool) {
			t.Helper()
			c := consumer(t, db)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- c.Run(ctx, open(t, brokers, k)) }()
			eventually(t, "the end of the log", func() bool { return c.Health().Err() == nil && until() })
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		high := func() int { return int(cluster.PartitionInfos(topicName)[0].HighWatermark) }
		position := func() int { return query(t, db, `SELECT coalesce(max(next), 0)::int FROM idem_ledger`) }
		produceTransaction(t, brokers, 10, true)
		produceTransaction(t, brokers, 10, false)
		run(func() bool { return position() == high() })
		if n := query(t, db, `SELECT count(*)::int FROM diary`); n != 10 {
			t.Errorf("%d records took effect, want 10", n)
		}
		deleteRecords(t, brokers, 0, int64(high()))
		produceTransaction(t, brokers, 1, true)
		run(func() bool { return query(t, db, `SELECT count(*)::int FROM diary`) == 11 })
	})
}
