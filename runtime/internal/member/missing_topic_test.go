package member_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// An event whose topic is missing is refused, and events of other topics are sent meanwhile. It is
// sent once somebody creates the topic. A topic that is deleted under a client that sent to it is
// missing in the same way, and its events arrive in order once it is created again.
func TestEventOfAMissingTopic(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		db := idemtest.DB(t)
		idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
		p := k.send(t, brokers, login{})
		topics := map[string]string{"user": topicName, "missing": "missing"}
		r := &outbox.Relay{DB: db, Producer: p, Topic: func(of string) string { return topics[of] }, Logger: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		written := 0
		write := func(of string) {
			t.Helper()
			written++
			e := outbox.Event{AggregateType: of, AggregateID: "7", Type: "Seen", Payload: outbox.JSON(written)}
			if err := outbox.Write(t.Context(), db, e); err != nil {
				t.Fatal(err)
			}
		}
		until := func(what string, holds func() bool) {
			t.Helper()
			for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
				is := fmt.Sprint(r.Health())
				replaced := strings.Contains(is, "out of order") || strings.Contains(is, "destroyed for termination") // librdkafka gave up
				if strings.Contains(is, "no events since") && !replaced {
					t.Fatalf("the broker is blamed: %s", is)
				}
				if time.Now().After(end) {
					t.Fatalf("it never was so that %s: Health: %v", what, r.Health())
				}
			}
		}
		left := func() (n int) {
			t.Helper()
			if err := db.QueryRow(t.Context(), `SELECT count(*) FROM idem_outbox`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		tried := func() bool { return r.Stats().Refused > 1 }
		write("missing")
		for !tried() { // the client is busy with it
			write("user")
			before := r.Stats().Refused
			until("another one is sent", func() bool { return left() == 1 })
			if r.Stats().Refused > before+1 {
				t.Error("an event waited while one of a missing topic was tried")
			}
			time.Sleep(20 * time.Millisecond)
		}
		named := func() bool {
			return strings.Contains(fmt.Sprint(r.Health()), `to topic "missing": refused: `)
		}
		until("the missing topic is named", named)
		admin := asking(t, brokers)
		done := func(code int16, err error) {
			t.Helper()
			if err = cmp.Or(err, kerr.ErrorForCode(code)); err != nil {
				t.Fatal(err)
			}
		}
		create := func() {
			t.Helper()
			r, of := kmsg.NewPtrCreateTopicsRequest(), kmsg.NewCreateTopicsRequestTopic()
			of.Topic, of.NumPartitions, of.ReplicationFactor = "missing", 1, 1
			r.Topics = append(r.Topics, of)
			answer, err := r.RequestWith(t.Context(), admin)
			done(answer.Topics[0].ErrorCode, err)
		}
		remove := func() {
			t.Helper()
			r, of := kmsg.NewPtrDeleteTopicsRequest(), kmsg.NewDeleteTopicsRequestTopic()
			of.Topic = kmsg.StringPtr("missing")
			r.Topics = append(r.Topics, of)
			answer, err := r.RequestWith(t.Context(), admin)
			done(answer.Topics[0].ErrorCode, err)
		}
		create()
		until("it is sent", func() bool { return left() == 0 })
		for _, meanwhile := range []bool{true, false} { // somebody sees the topic missing
			remove()
			first := written + 1
			if meanwhile {
				write("missing")
				write("missing")
				until("the deleted topic is named", named)
			}
			create()
			write("missing")
			write("missing")
			until("events of the deleted topic are sent", func() bool { return left() == 0 })
			got, want := valuesOf(t, brokers, "missing"), []string{}
			for n := first; n <= written; n++ {
				want = append(want, fmt.Sprint(n))
			}
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("the topic that was created again has %q, not %q", got, want)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		p.Close()
	})
}

// valuesOf returns the values of the records of a topic that has one partition.
func valuesOf(t *testing.T, brokers, topic string) (values []string) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for end := int64(1); int64(len(values)) < end; {
		fetches := c.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			end = p.HighWatermark
			for _, r := range p.Records {
				values = append(values, string(r.Value))
			}
		})
	}
	return values
}
