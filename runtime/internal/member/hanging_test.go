package member_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A producer that leaves a transaction open holds up all records behind it, also those of others.
// The lag counts them, and Health says what they wait for.
func TestOpenTransactionIsTold(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		db := diaryDB(t)
		produce(t, brokers, 5, 0)
		c, _ := run(t, db, open(t, brokers, k))
		eventually(t, "5 records", func() bool { return applied(t, db) == 5 && c.Health().Err() == nil })
		p, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.TransactionalID("hangs"), kgo.DefaultProduceTopic(topicName), kgo.TransactionTimeout(10*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := p.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := p.ProduceSync(t.Context(), &kgo.Record{Value: []byte("in it")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		produce(t, brokers, 20, 0)
		eventually(t, "Health names the transaction", func() bool {
			err := c.Health().Err()
			return err != nil && strings.Contains(err.Error(), "open transaction") && (k.name != "franz" || strings.Contains(err.Error(), "producer id"))
		})
		if all := c.Stats().Partitions; len(all) != 1 || all[0].End != 26 || all[0].Lag != 21 || all[0].LagTime == 0 {
			t.Errorf("%+v", all)
		}
		if err := p.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
		eventually(t, "all records", func() bool { return applied(t, db) == 26 && c.Health().Err() == nil })
	})
}
