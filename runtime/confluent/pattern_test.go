package confluent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/wire"
)

// A service of a pattern reads every topic that has it and no other one, each with a ledger of its
// own; one that is made while it runs is read from its first record on.
func TestTopicsOfAPatternAreReadWhenTheyAppear(t *testing.T) {
	for _, before := range [][]string{{"orders.eu.v1"}, nil} {
		t.Run(fmt.Sprintf("%d before", len(before)), func(t *testing.T) {
			onBothProtocols(t, func(t *testing.T, protocol string) {
				cluster, brokers := startCluster(t, 1, kfake.SeedTopics(2, append(before, "orders.eu.v2", "my.orders.eu.v1", "orders.eu.west.v1", "ordersXeu.v1")...))
				db := diaryDB(t)
				c := consumerOfTopic(t, db, wire.Topic{
					Name: "orders.<region>.v1", StartFrom: wire.Earliest, Statements: []string{diarySQL}, NewPlan: func() wire.Plan { return &diary{} },
				})
				s := sourceBy(t, brokers, protocol)
				s.Config["topic.metadata.refresh.interval.ms"] = 200
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- c.Run(ctx, s) }()
				rows := 0
				send := func(topic string, partition int32) {
					produceRecords(t, brokers, &kgo.Record{Topic: topic, Partition: partition, Value: []byte("1")})
				}
				arrives := func(topic string) {
					send(topic, 0)
					send(topic, 1)
					rows += 2
					eventually(t, "records of "+topic, func() bool { return query(t, db, `SELECT count(*)::int FROM diary`) == rows })
				}
				for _, topic := range []string{"orders.eu.v2", "my.orders.eu.v1", "orders.eu.west.v1", "ordersXeu.v1"} {
					send(topic, 0)
				}
				for _, topic := range before {
					arrives(topic)
				}
				for _, topic := range []string{"orders.us.v1", "orders.a_b-C9.v1"} {
					if err := cluster.CreateTopic(topic, 2, nil); err != nil {
						t.Fatal(err)
					}
					arrives(topic)
				}
				eventually(t, "health", func() bool { return c.Health() == nil })
				want := strings.Join(append([]string{"orders.a_b-C9.v1"}, append(before, "orders.us.v1")...), " ")
				if got := ledgers(t, db); got != want {
					t.Errorf("ledgers of %s, want %s", got, want)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// ledgers are the topics that have one.
func ledgers(t *testing.T, db *pgxpool.Pool) string {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT DISTINCT topic COLLATE "C" AS topic FROM idem_stream ORDER BY topic`)
	if err != nil {
		t.Fatal(err)
	}
	topics, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(topics, " ")
}
