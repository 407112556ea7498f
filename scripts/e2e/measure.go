package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

const (
	singles    = 300 // events that are committed alone, behind the first ones
	firstOnes  = 600 // do not count
	bulk       = 20_000
	bulkWrites = 500 // events of a transaction
	aggregates = 1000
)

// measured has the relay and then Debezium send events that come one by one, and many at once.
func measured(ctx context.Context, k *kit) (_ string, err error) {
	s, err := k.source()
	if err != nil {
		return "", err
	}
	d, err := k.openDesk(ctx, "measured-relay")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := k.makeTopic(ctx, "outbox.event.measured-debezium", partitions); err != nil {
		return "", err
	}
	_, stop, err := k.relay(ctx, d.db, nil, nil)
	if err != nil {
		return "", err
	}
	byRelay, err := k.measure(ctx, d.db, "measured-relay")
	stop()
	if err != nil {
		return "", err
	}
	byDebezium, err := k.measure(ctx, s.database, "measured-debezium")
	return "relay " + byRelay + "; Debezium " + byDebezium, err
}

// measure writes events of a kind, and says when they could be read from the topic.
func (k *kit) measure(ctx context.Context, db *database, kind string) (_ string, err error) {
	w, err := k.watch("outbox.event." + kind)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	committed := map[string]time.Time{}
	for n := range firstOnes + singles {
		e := event(kind, n)
		if err := outbox.Write(ctx, db.pool, e); err != nil {
			return "", err
		}
		if n >= firstOnes {
			committed[idOf(e)] = time.Now()
		}
		if err := stage.Pause(ctx, 10*time.Millisecond); err != nil {
			return "", err
		}
	}
	if err := w.until(ctx, firstOnes+singles); err != nil {
		return "", err
	}
	var waits []time.Duration
	for id, at := range committed {
		waits = append(waits, w.at(id).Sub(at))
	}
	slices.Sort(waits)
	began := time.Now()
	if err := writeMany(ctx, db, kind); err != nil {
		return "", err
	}
	writing := time.Since(began)
	if err := w.until(ctx, firstOnes+singles+bulk); err != nil {
		return "", err
	}
	return fmt.Sprintf("%.1f ms in the median, %.1f ms at the 99th percentile, %d events in %.1f s, %.1f s of them until all were written",
		ms(waits[len(waits)/2]), ms(waits[len(waits)*99/100]), bulk, time.Since(began).Seconds(), writing.Seconds()), nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func event(kind string, n int) outbox.Event {
	return outbox.Event{
		ID:            [16]byte{2, 6: 0x40, 8: 0x80, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)},
		AggregateType: kind, AggregateID: fmt.Sprint(n % aggregates), Type: "Measured", Payload: outbox.JSON(n),
	}
}

func writeMany(ctx context.Context, db *database, kind string) error {
	for from := 0; from < bulk; from += bulkWrites {
		events := make([]outbox.Event, bulkWrites)
		for i := range events {
			events[i] = event(kind, firstOnes+singles+from+i)
		}
		if err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error { return outbox.Write(ctx, tx, events...) }); err != nil {
			return err
		}
	}
	return nil
}

// watcher notes when records of a topic could be read first.
type watcher struct {
	client  *kafka.Consumer
	stop    chan struct{}
	running sync.WaitGroup
	mu      sync.Mutex
	seen    map[string]time.Time // by the header id
}

func (k *kit) watch(topic string) (*watcher, error) {
	c, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers": k.broker.Addr(), "group.id": "e2e-watcher", "enable.auto.commit": false, "fetch.wait.max.ms": 5, quiet: 0,
	})
	if err != nil {
		return nil, err
	}
	var from []kafka.TopicPartition
	for p := range int32(partitions) {
		from = append(from, kafka.TopicPartition{Topic: &topic, Partition: p, Offset: kafka.OffsetBeginning})
	}
	if err := c.Assign(from); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	w := &watcher{client: c, stop: make(chan struct{}), seen: map[string]time.Time{}}
	w.running.Go(w.run)
	return w, nil
}

func (w *watcher) run() {
	for {
		m, err := w.client.ReadMessage(50 * time.Millisecond)
		select {
		case <-w.stop:
			return
		default:
		}
		if err != nil { // none came in time; what is missing in the end is told by until
			continue
		}
		w.mu.Lock()
		if id := header(m, "id"); w.seen[id].IsZero() {
			w.seen[id] = time.Now()
		}
		w.mu.Unlock()
	}
}

// at is when a record was read.
func (w *watcher) at(id string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[id]
}

// until waits until so many events were read.
func (w *watcher) until(ctx context.Context, n int) error {
	seen := 0
	err := stage.Until(ctx, patience, func() (bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		seen = len(w.seen)
		return seen >= n, nil
	})
	if err != nil {
		return fmt.Errorf("%d events of %d were read: %w", seen, n, err)
	}
	return nil
}

func (w *watcher) close() error {
	close(w.stop)
	w.running.Wait()
	return w.client.Close()
}
