package member_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// The relay's records come to the partition that Java's clients, and so Debezium, have their key
// in; in the order of each aggregate; with tombstones and headers. One that is too large for the
// broker holds back its own aggregate only.
func TestOutboxToABroker(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 4)
		db := idemtest.DB(t)
		idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
		p := k.send(t, brokers, login{})
		r := &outbox.Relay{DB: db, Producer: p, Topic: func(string) string { return topicName }, Logger: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		var events []outbox.Event
		for n := range 40 {
			e := outbox.Event{AggregateType: "user", AggregateID: fmt.Sprintf("user-%d", n%8), Type: "Seen", Payload: outbox.JSON(n)}
			switch n {
			case 9:
				e.Payload = outbox.Bytes(make([]byte, 2<<20))
			case 38:
				e.Payload = nil
			}
			events = append(events, e)
		}
		if err := outbox.Write(t.Context(), db, events...); err != nil {
			t.Fatal(err)
		}
		got := readKeys(t, brokers, 36)
		for n := range 8 {
			key := fmt.Sprintf("user-%d", n)
			var want []string
			for i := n; i < 40 && (n != 1 || i < 9); i += 8 {
				if i == 38 {
					want = append(want, "tombstone")
				} else {
					want = append(want, fmt.Sprint(i))
				}
			}
			if text := strings.Join(got[key], " "); text != strings.Join(want, " ") {
				t.Errorf("%s: %s, want %s", key, text, want)
			}
		}
		for end := time.Now().Add(time.Minute); r.Health() == nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		}
		if err := r.Health(); err == nil || !strings.Contains(err.Error(), `aggregate "user" "user-1", to topic "`+topicName+`": refused: `) {
			t.Errorf("Health: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		p.Close()
		refused := make(chan error, 1)
		p.Produce(outbox.Record{Topic: topicName}, func(err error) { refused <- err })
		if err := <-refused; err == nil || !strings.Contains(err.Error(), "the producer is closed") {
			t.Errorf("a producer that is closed: %v", err)
		}
	})
}

// readKeys reads n records, and returns the values of each key in their order.
func readKeys(t testing.TB, brokers string, n int) map[string][]string {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.ConsumeTopics(topicName), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	murmur2 := kgo.StickyKeyPartitioner(nil).ForTopic(topicName)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := map[string][]string{}
	for n > 0 {
		fetched := c.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("%d records did not come", n)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			n--
			value := string(r.Value)
			if r.Value == nil {
				value = "tombstone"
			}
			all[string(r.Key)] = append(all[string(r.Key)], value)
			if want := murmur2.Partition(r, 4); int(r.Partition) != want {
				t.Errorf("key %s is in partition %d, want %d", r.Key, r.Partition, want)
			}
			if len(r.Headers) != 2 || r.Headers[0].Key != "id" || len(r.Headers[0].Value) != 36 || r.Headers[1].Key != "type" || string(r.Headers[1].Value) != "Seen" {
				t.Errorf("headers: %v", r.Headers)
			}
		})
	}
	return all
}
