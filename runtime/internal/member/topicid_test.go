package member_test

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"
)

// A broker without topic ids cannot say that a topic was deleted and made again: records of the
// new one would be skipped.
func TestBrokerWithoutTopicIDsIsRefused(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1, kfake.MaxVersions(kversion.V2_7_0()))
		produce(t, brokers, 4, 0)
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
		eventually(t, "Health names the topic and the oldest broker", func() bool {
			err := c.Health().Err()
			return query(t, db, `SELECT count(*)::int FROM diary`) > 0 ||
				err != nil && strings.Contains(err.Error(), "topic "+topicName) && strings.Contains(err.Error(), "Kafka 2.8")
		})
		if n := query(t, db, `SELECT count(*)::int FROM diary`); n > 0 {
			t.Errorf("%d records of a topic without an id took effect", n)
		}
		if n := query(t, db, `SELECT count(*)::int FROM idem_stream`); n > 0 {
			t.Errorf("%d ledgers began for a topic without an id", n)
		}
	})
}
