package member_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// An event whose topic is missing is refused, and events of other topics are sent meanwhile. It is
// sent once somebody creates the topic.
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
		write := func(of string) {
			t.Helper()
			e := outbox.Event{AggregateType: of, AggregateID: "7", Type: "Seen", Payload: outbox.JSON(1)}
			if err := outbox.Write(t.Context(), db, e); err != nil {
				t.Fatal(err)
			}
		}
		until := func(what string, holds func() bool) {
			t.Helper()
			for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
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
		if err := r.Health(); err == nil || !strings.Contains(fmt.Sprint(err), `to topic "missing": refused: `) {
			t.Errorf("Health: %v", err)
		}
		admin, err := kgo.NewClient(kgo.SeedBrokers(brokers))
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close()
		create, of := kmsg.NewPtrCreateTopicsRequest(), kmsg.NewCreateTopicsRequestTopic()
		of.Topic, of.NumPartitions, of.ReplicationFactor = "missing", 1, 1
		create.Topics = append(create.Topics, of)
		if answer, err := create.RequestWith(t.Context(), admin); err != nil || answer.Topics[0].ErrorCode != 0 {
			t.Fatal(answer, err)
		}
		until("it is sent", func() bool { return left() == 0 })
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		p.Close()
	})
}
