package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

const (
	partitions = 4
	devices    = 1000
	accounts   = 10
	keyHeader  = "Idempotency-Key"
)

// log is a topic with records, and what becomes of them.
type log struct {
	name, topic string
	migrations  string // of the tables, for whoever consumes it
	keys        string // file with tables that its contenders need which have other keys than its spec
	seed        string // SQL that makes rows which the records change
	digest      string // SQL: how many records took effect, and a sum of the table's content
	record      record
	records     int // each with a key of its own
	copies      int // of the first ones, behind them
}

// record is the i-th record of a log: its partition, its key, and what it says at that time.
type record func(i int, at time.Time) (partition int, key string, value []byte)

// logs are the topics of the bench, of so many records.
func logs(readings, handled, copies int) []log {
	return []log{
		{
			name: "readings", topic: "readings.v1", migrations: "bench/readings/migrations", keys: "templates/sql/idem_keys_1.sql", record: reading, records: readings, copies: copies,
			digest: `SELECT count(*), coalesce(sum(hashtextextended(r::text, 0)::numeric), 0)::text FROM readings r`,
		},
		{
			name: "devices", topic: "device-readings.v1", migrations: "bench/devices/migrations", record: reading, records: handled, copies: copies,
			seed:   fmt.Sprintf(`INSERT INTO devices SELECT 'device-' || lpad(i::text, 6, '0'), 0, 0 FROM generate_series(0, %d) AS i`, devices-1),
			digest: `SELECT coalesce(sum(readings), 0)::bigint, coalesce(sum(hashtextextended(d::text, 0)::numeric), 0)::text FROM devices d`,
		},
		{
			name: "bookings", topic: "bookings.v1", migrations: "bench/accounts/migrations", record: booking, records: handled, copies: copies,
			seed:   fmt.Sprintf(`INSERT INTO accounts SELECT 'account-' || lpad(i::text, 6, '0'), 0, 0 FROM generate_series(0, %d) AS i`, accounts-1),
			digest: `SELECT coalesce(sum(bookings), 0)::bigint, coalesce(sum(hashtextextended(a::text, 0)::numeric), 0)::text FROM accounts a`,
		},
		{
			name: "notices", topic: "notices.v1", migrations: "bench/notices/migrations", record: notice, records: handled / 5, copies: copies,
			digest: `SELECT count(*), coalesce(sum(hashtextextended(n::text, 0)::numeric), 0)::text FROM notices n`,
		},
		{
			name: "payments", topic: "payments.v1", migrations: "bench/payments/migrations", keys: "templates/sql/idem_keys_1.sql", record: payment, records: readings, copies: copies,
			digest: `SELECT count(*), coalesce(sum(hashtextextended(p::text, 0)::numeric), 0)::text FROM payments p`,
		},
	}
}

// produce writes the log's records to a broker.
func (l log) produce(ctx context.Context, broker *idemtest.Broker) error {
	const chunk = 5000
	for from := 0; from < l.records+l.copies; from += chunk {
		var batch []*wire.Message
		for i := from; i < min(from+chunk, l.records+l.copies); i++ {
			batch = append(batch, l.message(i%l.records))
		}
		if err := broker.Produce(ctx, batch...); err != nil {
			return err
		}
	}
	return nil
}

// message is one record.
func (l log) message(i int) *wire.Message {
	at := time.Date(2026, 3, 1, 8, 0, 0, 1000, time.UTC).Add(time.Duration(i) * time.Millisecond)
	partition, key, value := l.record(i, at)
	return &wire.Message{
		Topic: l.topic, Partition: int32(partition), Key: []byte(key), Time: at,
		Headers: []wire.Header{{Name: keyHeader, Value: randomUUID(i)}},
		Value:   value,
	}
}

// reading is a record of 261 bytes. Seven of its members are used. All records of a device are in
// one partition.
func reading(i int, at time.Time) (partition int, key string, value []byte) {
	device := i * 7919 % devices
	return device % partitions, fmt.Sprintf("device-%06d", device), fmt.Appendf(nil, `{"reading_id":%d,"device_id":"device-%06d","site":"north-yard-%02d","taken_at":"%s",`+
		`"temperature":%d.25,"humidity":%d.5,"battery":%d,"firmware":"2.14.1","signal":{"rssi":-71,"snr":9.5},`+
		`"trace":"4bf92f3577b34da6a3ce929d0e0e4736"}`,
		1_000_000_000+i, device, device%100, at.Format(times), 10+i%30, 40+i%50, 10+i%90)
}

// booking is a record with two members that are used. Records of each account are in all
// partitions.
func booking(i int, at time.Time) (partition int, key string, value []byte) {
	id := fmt.Sprintf("booking-%09d", i)
	return i / accounts % partitions, id, fmt.Appendf(nil, `{"booking_id":"%s","account_id":"account-%06d","cents":%d,"currency":"EUR","booked_at":"%s",`+
		`"purpose":"card payment","card":{"last4":"4711","network":"visa"},"trace":"4bf92f3577b34da6a3ce929d0e0e4736"}`,
		id, i%accounts, 100+i%9000, at.Format(times))
}

// notice is a record with one member that is used, and a record key of its own.
func notice(i int, at time.Time) (partition int, key string, value []byte) {
	id := fmt.Sprintf("notice-%09d", i)
	return i % partitions, id, fmt.Appendf(nil, `{"notice_id":"%s","address":"user-%06d@example.com","noticed_at":"%s","trace":"4bf92f3577b34da6a3ce929d0e0e4736"}`,
		id, i%devices, at.Format(times))
}

// payment is a record of 251 bytes. Four of its members are used, a random UUID and a decimal in a
// string among them. All records of an account are in one partition.
func payment(i int, at time.Time) (partition int, key string, value []byte) {
	account := i * 7919 % devices
	cents := 100_000 + i*7919%900_000
	return account % partitions, fmt.Sprintf("account-%06d", account), fmt.Appendf(nil, `{"payment_id":"%s","account_id":"account-%06d","amount":"%d.%02d","paid_at":"%s",`+
		`"currency":"EUR","purpose":"card payment","card":{"last4":"4711"},"trace":"4bf92f3577b34da6a3ce929d0e0e4736"}`,
		randomUUID(-1-i), account, cents/100, cents%100, at.Format(times))
}

const times = "2006-01-02T15:04:05.000000Z07:00"

// randomUUID is a UUID of version 4, the usual kind of key, and the same one for the same i. Keys
// have i of 0 and more.
func randomUUID(i int) []byte {
	b := sha256.Sum256(fmt.Append(nil, i))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Appendf(nil, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
