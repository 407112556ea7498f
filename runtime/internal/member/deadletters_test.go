package member_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
)

// refuser refuses every record.
type refuser struct{ diary }

func (*refuser) Add(*wire.Batch, *wire.Message) error {
	return &wire.DecodeError{Event: "Order", Path: "amount", Reason: "must be a number"}
}

// A record of a broker that cannot be applied is in the dead letters' topic as it was read: key,
// value and headers, or none of them.
func TestDeadLettersToABroker(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 2, kfake.SeedTopics(2, "orders.dead"))
		db := diaryDB(t)
		idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay)+outbox.DeadLetterMigration())
		c := consumerOfTopic(t, db, wire.Topic{
			Name: topicName, StartFrom: wire.Earliest, NewPlan: func() wire.Plan { return &refuser{} }, OnFailure: wire.FailurePolicy{StopAfter: 100},
		})
		p := k.send(t, brokers, login{})
		defer p.Close()
		idemtest.Exec(t, db, `INSERT INTO idem_dead_letter_topic (consumer, topic) VALUES ('`+c.Name()+`', 'orders.dead')`)
		r := &outbox.Relay{DB: db, Producer: p, Logger: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- c.Run(ctx, open(t, brokers, k)) }()
		go func() { ended <- r.Run(ctx) }()
		produceRecords(t, brokers,
			&kgo.Record{Topic: topicName, Partition: 0, Key: []byte{0, 255}, Value: []byte("a\xff"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "h"}}},
			&kgo.Record{Topic: topicName, Partition: 1, Key: []byte("b")},
			&kgo.Record{Topic: topicName, Partition: 1, Value: []byte{}},
		)
		got := readLetters(t, brokers, 3)
		for place, want := range map[string]string{
			"0:0": `"\x00\xff" "a\xff" null=false h=1 h=`, "1:0": `"b" "" null=true`, "1:1": `"" "" null=false`,
		} {
			if got[place] != want {
				t.Errorf("%s: got %s, want %s", place, got[place], want)
			}
		}
		eventually(t, "no event is left, and Health is good", func() bool {
			return query(t, db, `SELECT count(*)::int FROM idem_outbox`) == 0 && r.Health() == nil
		})
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// readLetters reads n letters, by partition and offset of their records.
func readLetters(t testing.TB, brokers string, n int) map[string]string {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.ConsumeTopics("orders.dead"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := map[string]string{}
	for n > 0 {
		fetched := c.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("%d letters did not come", n)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			n--
			text, ours := fmt.Sprintf("%q %q null=%t", r.Key, r.Value, r.Value == nil), map[string]string{}
			for _, h := range r.Headers {
				if strings.HasPrefix(h.Key, "idem.") {
					ours[h.Key] = string(h.Value)
				} else {
					text += fmt.Sprintf(" %s=%s", h.Key, h.Value)
				}
			}
			all[ours["idem.partition"]+":"+ours["idem.offset"]] = text
		})
	}
	return all
}
