package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// peculiar are events of every kind, transaction by transaction.
func peculiar() (transactions [][]outbox.Event) {
	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	payloads := []outbox.Payload{
		outbox.JSON(map[string]any{"name": "Zoë", "n": 1}), outbox.JSON(nil), outbox.JSON("text"), outbox.Bytes(bytes), outbox.Bytes(nil), nil,
		outbox.Bytes([]byte("  \n")), outbox.Bytes([]byte("null")), outbox.Bytes([]byte{0}), outbox.Bytes(make([]byte, 500_000)),
	}
	headers := []map[string]string{
		nil, {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "a=1,b=2"},
		{"tenant": ""}, {"tenant": "Übersee, \"quoted\" \n", "traceparent": "00-1"}, {"tenant": "42"},
	}
	ids := []string{"1", "0042", "kunde-ü", "顧客 7", "🙂", "a\"b", "null", " ", "x\ny", strings.Repeat("long", 100)}
	n := 0
	for len(transactions) < 60 {
		var one []outbox.Event
		for range 1 + len(transactions)%4 {
			one = append(one, outbox.Event{
				ID: [16]byte{3, 6: 0x40, 8: 0x80, 14: byte(n >> 8), 15: byte(n)}, AggregateType: []string{"equal-a", "equal.b_1"}[n%2],
				AggregateID: ids[n*7%len(ids)], Type: []string{"Changed", "Geändert", "a b"}[n%3],
				Payload: payloads[n*3%len(payloads)], Headers: headers[n%len(headers)],
			})
			n++
		}
		transactions = append(transactions, one)
	}
	return transactions
}

// equalRecords writes the same events for the relay and for Debezium.
func equalRecords(ctx context.Context, k *kit) (_ string, err error) {
	s, err := k.source()
	if err != nil {
		return "", err
	}
	db, err := openDatabase(ctx, nil, outbox.Migration(outbox.ByRelay), `ALTER TABLE idem_outbox ADD COLUMN tenant text`)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	for _, kind := range []string{"equal-a", "equal.b_1"} {
		if err := errors.Join(k.makeTopic(ctx, "outbox.event."+kind, partitions), k.makeTopic(ctx, "relay."+kind, partitions)); err != nil {
			return "", err
		}
	}
	_, stop, err := k.relay(ctx, db, nil, func(r *outbox.Relay) { r.Topic = func(kind string) string { return "relay." + kind } })
	if err != nil {
		return "", err
	}
	defer stop()
	written := map[string]int{}
	for _, events := range peculiar() {
		for _, d := range []*database{db, s.database} {
			if err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return outbox.Write(ctx, tx, events...) }); err != nil {
				return "", err
			}
		}
		for _, e := range events {
			written[e.AggregateType]++
		}
	}
	total := 0
	for kind, n := range written {
		if err := k.sameRecords(ctx, kind, n); err != nil {
			return "", err
		}
		total += n
	}
	return fmt.Sprintf("%d events: keys, values, headers, partitions, order in each aggregate", total), nil
}

// sameRecords compares two topics, aggregate by aggregate.
func (k *kit) sameRecords(ctx context.Context, kind string, n int) error {
	var lines [2]map[string][]string
	for i, topic := range []string{"relay." + kind, "outbox.event." + kind} {
		records, err := k.readWhen(ctx, topic, func(r []*kafka.Message) bool { return len(r) >= n })
		if err != nil {
			return err
		}
		lines[i] = map[string][]string{}
		for _, m := range records {
			lines[i][string(m.Key)] = append(lines[i][string(m.Key)], line(m))
		}
	}
	relay, debezium := lines[0], lines[1]
	for key, want := range relay {
		if got := debezium[key]; !slices.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			return fmt.Errorf("aggregate %q of %s, from record %d on:\nthe relay sent %.500q\nDebezium sent  %.500q", key, kind, at, want[at:], got[at:])
		}
	}
	if len(debezium) != len(relay) {
		return fmt.Errorf("%s: the relay sent %d keys, Debezium %d", kind, len(relay), len(debezium))
	}
	return nil
}

// line is a record as a text. A header without a value counts as none: Debezium sends one for a
// column that is NULL.
func line(m *kafka.Message) string {
	value := "tombstone"
	if m.Value != nil {
		value = hex.EncodeToString(m.Value)
	}
	text := fmt.Sprintf("partition %d", m.TopicPartition.Partition)
	for _, h := range m.Headers {
		if h.Value != nil {
			text += fmt.Sprintf(" %s=%q", h.Key, h.Value)
		}
	}
	return text + " " + value
}

// some reports whether there are records.
func some(records []*kafka.Message) bool { return len(records) > 0 }
