package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/confluent/producer"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

const (
	outboxType       = "reading" // aggregate type
	outboxAggregates = 1000
	outboxEvents     = 50_000 // of a round
	outboxBatch      = 500    // of the loop by hand
	outboxWrites     = 1000   // commits whose latency is measured
	outboxPause      = 5 * time.Millisecond
)

// sent is what was measured of the outbox.
type sent struct {
	relay, loop []float64 // events per second, by round
	latency     []float64 // milliseconds from the commit to the broker's acknowledgement
}

func outboxSpeed(s *sent) figure { return pairwise(s.relay, s.loop) }

func outboxMedian(s *sent) figure {
	return figure{value: median(s.latency), least: slices.Min(s.latency), most: slices.Max(s.latency)}
}

func outboxTail(s *sent) figure {
	sorted := slices.Sorted(slices.Values(s.latency))
	return figure{value: sorted[len(sorted)*99/100], least: sorted[0], most: sorted[len(sorted)-1]}
}

// sending has the events of a table sent by the relay, and by a loop by hand, in turns; then the
// relay sends single events as they are committed.
func sending(ctx context.Context, rounds int) (s *sent, err error) {
	server, err := startDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	settings, err := server.settings(ctx)
	if err != nil {
		return nil, err
	}
	broker, err := idemtest.StartBroker(map[string]int32{"outbox.event." + outboxType: partitions})
	if err != nil {
		return nil, err
	}
	defer broker.Close()
	fmt.Printf("# %s; broker in memory; P15: %d rounds of %d events of %d aggregates, the loop takes %d at once\n", settings, rounds, outboxEvents, outboxAggregates, outboxBatch)
	s = &sent{}
	for range rounds {
		for _, one := range []struct {
			name   string
			speeds *[]float64
			send   func(context.Context, *pgxpool.Pool, outbox.Producer) error
		}{{"relay", &s.relay, byRelay}, {"loop by hand", &s.loop, byLoop}} {
			speed, err := emptied(ctx, server, broker.Addr(), one.send)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(os.Stderr, "outbox, %s: %.0f events per second\n", one.name, speed)
			*one.speeds = append(*one.speeds, speed)
		}
	}
	s.latency, err = latencies(ctx, server, broker.Addr())
	return s, err
}

// outboxStage makes an empty outbox and a producer, and has something done with them.
func outboxStage(ctx context.Context, server *database, brokers string, do func(*pgxpool.Pool, outbox.Producer) error) error {
	url, err := server.fresh(ctx, log{})
	if err != nil {
		return err
	}
	db, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(ctx, outbox.Migration(outbox.ByRelay)); err != nil {
		return err
	}
	sender, err := producer.New(brokers, nil)
	if err != nil {
		return err
	}
	defer sender.Close()
	return do(db, sender)
}

// emptied is how many events per second are sent and removed from a full table.
func emptied(ctx context.Context, server *database, brokers string, send func(context.Context, *pgxpool.Pool, outbox.Producer) error) (speed float64, err error) {
	err = outboxStage(ctx, server, brokers, func(db *pgxpool.Pool, producer outbox.Producer) error {
		if _, err := db.Exec(ctx, `INSERT INTO idem_outbox (aggregatetype, aggregateid, type, payload)
			SELECT $1, (n % $2::int)::text, 'ReadingTaken', convert_to(repeat('x', 200), 'UTF8') FROM generate_series(1, $3::int) n`,
			outboxType, outboxAggregates, outboxEvents); err != nil {
			return err
		}
		began := time.Now()
		if err := send(ctx, db, producer); err != nil {
			return err
		}
		speed = outboxEvents / time.Since(began).Seconds()
		return nil
	})
	return speed, err
}

// byRelay runs a relay until the table is empty. The table is queried only after all events are
// sent: to find it empty the server passes every deleted row, which would cost the relay, and not
// the loop.
func byRelay(ctx context.Context, db *pgxpool.Pool, producer outbox.Producer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	relay := &outbox.Relay{DB: db, Producer: producer, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	go func() { ended <- relay.Run(ctx) }()
	for relay.Stats().Sent < outboxEvents {
		select {
		case err := <-ended:
			return errors.Join(err, errors.New("the relay has ended"))
		case <-time.After(2 * time.Millisecond):
		}
	}
	err := untilEmpty(ctx, db)
	cancel()
	return errors.Join(err, <-ended)
}

func untilEmpty(ctx context.Context, db *pgxpool.Pool) error {
	for {
		var some bool
		if err := db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM idem_outbox)`).Scan(&some); err != nil || !some {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// byLoop is what many services have: rows are locked, sent, and removed behind the
// acknowledgements. It keeps no order where two of them run, or where a record fails.
func byLoop(ctx context.Context, db *pgxpool.Pool, producer outbox.Producer) error {
	for {
		n := 0
		err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) (err error) {
			n, err = batchByHand(ctx, tx, producer)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

func batchByHand(ctx context.Context, tx pgx.Tx, producer outbox.Producer) (int, error) {
	rows, err := tx.Query(ctx, `SELECT seq, id::text, aggregatetype, aggregateid, type, payload FROM idem_outbox
		ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED`, outboxBatch)
	if err != nil {
		return 0, err
	}
	var seqs []int64
	acknowledged := make(chan error, outboxBatch)
	var seq int64
	var id, aggregateType, aggregateID, kind string
	var payload []byte
	_, err = pgx.ForEachRow(rows, []any{&seq, &id, &aggregateType, &aggregateID, &kind, &payload}, func() error {
		seqs = append(seqs, seq)
		producer.Produce(outbox.Record{
			Topic: "outbox.event." + aggregateType, Key: []byte(aggregateID), Value: slices.Clone(payload),
			Headers: []outbox.Header{{Name: "id", Value: []byte(id)}, {Name: "type", Value: []byte(kind)}},
		}, func(err error) { acknowledged <- err })
		return nil
	})
	for range seqs {
		err = errors.Join(err, <-acknowledged)
	}
	if err == nil && len(seqs) > 0 {
		_, err = tx.Exec(ctx, `DELETE FROM idem_outbox WHERE seq = ANY ($1)`, seqs)
	}
	return len(seqs), err
}

// watched notes when each event was acknowledged.
type watched struct {
	outbox.Producer
	mu sync.Mutex
	at map[string]time.Time // by the header id
}

func (w *watched) Produce(r outbox.Record, done func(error)) {
	id := string(r.Headers[slices.IndexFunc(r.Headers, func(h outbox.Header) bool { return h.Name == "id" })].Value)
	w.Producer.Produce(r, func(err error) {
		if err == nil {
			w.mu.Lock()
			w.at[id] = time.Now()
			w.mu.Unlock()
		}
		done(err)
	})
}

// latencies are how long single events take, each committed while the relay is idle.
func latencies(ctx context.Context, server *database, brokers string) (out []float64, err error) {
	err = outboxStage(ctx, server, brokers, func(db *pgxpool.Pool, producer outbox.Producer) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w := &watched{Producer: producer, at: map[string]time.Time{}}
		relay := &outbox.Relay{DB: db, Producer: w, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
		ended := make(chan error, 1)
		go func() { ended <- relay.Run(ctx) }()
		committed := map[string]time.Time{}
		for n := range outboxWrites + 100 { // the first ones do not count: it has to lead first
			var id string
			if err := db.QueryRow(ctx, `INSERT INTO idem_outbox (aggregatetype, aggregateid, type, payload)
				VALUES ($1, $2, 'ReadingTaken', 'x') RETURNING id::text`, outboxType, fmt.Sprint(n)).Scan(&id); err != nil {
				return err
			}
			if n >= 100 {
				committed[id] = time.Now()
			}
			time.Sleep(outboxPause)
		}
		err := untilEmpty(ctx, db)
		cancel()
		err = errors.Join(err, <-ended)
		for id, at := range committed {
			if w.at[id].IsZero() {
				return errors.Join(err, fmt.Errorf("event %s left the table, and was never acknowledged", id))
			}
			// It may be acknowledged before this program hears of its commit.
			out = append(out, float64(max(w.at[id].Sub(at), 0).Microseconds())/1000)
		}
		return err
	})
	return out, err
}
