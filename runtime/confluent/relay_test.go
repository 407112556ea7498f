package confluent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
)

const outboxSQL = `
CREATE TABLE idem_outbox_orders (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id bigint GENERATED ALWAYS AS IDENTITY,
    event_id uuid NOT NULL,
    topic text NOT NULL,
    record_key text NOT NULL,
    event_type text NOT NULL,
    payload bytea,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (id));
CREATE TABLE orders (id int PRIMARY KEY, version int NOT NULL);
INSERT INTO orders SELECT n, 0 FROM generate_series(1, 5) AS n`

// runRelay runs a relay until stop is called, or the test ends.
func runRelay(t *testing.T, ctx context.Context, db *pgxpool.Pool, p *Producer) (r *outbox.Relay, stop func()) {
	log := &testLog{}
	p.Logger = textLogger(log)
	r = outbox.New(db, wire.Outbox{Table: "idem_outbox_orders"}, p)
	r.Logger, r.BatchRows = p.Logger, 20
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(40 * time.Second):
			t.Error("the relay does not end")
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	t.Cleanup(stop)
	return r, stop
}

// Relays that crash behind the acknowledgement and are replaced, brokers that go away and refuse
// requests: each event is there, with one id, and first occurrences are in the order of its
// aggregate.
func TestRelayKeepsItsPromise(t *testing.T) {
	both(t, func(t *testing.T, id string) {
		db, broker := idemtest.DB(t), startStopped(t)
		idemtest.Exec(t, db, outboxSQL)
		var crashes atomic.Int32
		ctx := fault.With(t.Context(), func(step string) error {
			if step == fault.Acknowledged && crashes.Add(1)%7 == 3 {
				return errors.New("crash")
			}
			return nil
		})
		producer := func() *Producer {
			return &Producer{Brokers: broker.Addr(), TransactionalID: id, Config: kafka.ConfigMap{"message.timeout.ms": 2000}}
		}
		_, stop := runRelay(t, ctx, db, producer())
		const writers, each = 4, 40
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for i := range each {
					if _, err := db.Exec(context.Background(), `
WITH o AS (UPDATE orders SET version = version + 1 WHERE id = $1 RETURNING id, version)
INSERT INTO idem_outbox_orders (event_id, topic, record_key, event_type, payload)
SELECT gen_random_uuid(), $2, id::text, 'Placed', convert_to(version::text, 'UTF8') FROM o`, 1+i%5, topicName); err != nil {
						t.Error(err)
					}
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		for _, code := range []int16{6, 19, 7} { // NOT_LEADER, NOT_ENOUGH_REPLICAS, REQUEST_TIMED_OUT
			broker.Fail(idemtest.Failure{Requests: []int16{0}, Error: code, Times: 2})
			time.Sleep(50 * time.Millisecond)
		}
		stop()
		runRelay(t, ctx, db, producer())
		broker.Stop()
		time.Sleep(300 * time.Millisecond)
		if err := broker.Start(); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		for end := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			var n int
			if err := db.QueryRow(t.Context(), `SELECT count(*) FROM idem_outbox_orders`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%d rows are not sent", n)
			}
		}
		next, seen, ids := map[string]int{}, map[string]bool{}, map[string]string{}
		for _, r := range committedRecords(t, broker.Addr(), topicName, writers*each) {
			event, what := string(r.Headers[0].Value), fmt.Sprintf("%s/%s", r.Key, r.Value)
			if ids[what] != "" && ids[what] != event {
				t.Errorf("%s has two ids", what)
			}
			if ids[what] = event; seen[event] {
				continue
			}
			seen[event] = true
			next[string(r.Key)]++
			if v, _ := strconv.Atoi(string(r.Value)); v != next[string(r.Key)] {
				t.Errorf("aggregate %s: version %d is the first occurrence where %d must be", r.Key, v, next[string(r.Key)])
			}
		}
		if len(seen) != writers*each {
			t.Errorf("%d events of %d", len(seen), writers*each)
		}
	})
}

// startStopped is a broker that keeps what it has while it is stopped.
func startStopped(t *testing.T) *idemtest.Broker {
	t.Helper()
	broker, err := idemtest.StartBrokerWith(map[string]int32{topicName: 3}, idemtest.BrokerOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	return broker
}

// A topic that does not exist yet is named; when it is made, its rows are sent.
func TestRelayWaitsForATopic(t *testing.T) {
	t.Parallel()
	db, broker := idemtest.DB(t), idemtest.Kafka(t, map[string]int32{topicName: 1})
	idemtest.Exec(t, db, outboxSQL)
	idemtest.Exec(t, db, `
INSERT INTO idem_outbox_orders (event_id, topic, record_key, event_type, payload)
VALUES (gen_random_uuid(), 'later', '1', 'Placed', 'a'), (gen_random_uuid(), $1, '1', 'Placed', 'b')`, topicName)
	r, _ := runRelay(t, t.Context(), db, &Producer{Brokers: broker.Addr(), Config: kafka.ConfigMap{"topic.metadata.propagation.max.ms": 300}})
	if got := values(committedRecords(t, broker.Addr(), topicName, 1)); len(got) != 1 || got[0] != "b" {
		t.Errorf("the other topic has %q", got)
	}
	for end := time.Now().Add(10 * time.Second); r.Stats().Undeliverable != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nobody is told: %+v, %v", r.Stats(), r.Health())
		}
	}
	makeTopic(t, broker.Addr(), "later")
	if got := values(committedRecords(t, broker.Addr(), "later", 1)); len(got) != 1 || got[0] != "a" {
		t.Errorf("the topic has %q", got)
	}
}
