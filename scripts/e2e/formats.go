package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/sr"

	"github.com/idemgen/idemgen/internal/kit/kafkatest"
	"github.com/idemgen/idemgen/runtime/avro/registry"
	"github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/stage"
	avrobook "github.com/idemgen/idemgen/testdata/golden/accepted/avro_orders"
	protobook "github.com/idemgen/idemgen/testdata/golden/accepted/protobuf_orders"
)

const (
	avroBook     = "testdata/golden/accepted/avro_orders"
	protobufBook = "testdata/golden/accepted/protobuf_orders"
	bookTopic    = "orders.v1"
)

var formatChecks = []check{
	{name: "Avro and Protobuf, and the registry is killed", long: true, beside: true, do: formats},
}

// formats runs services whose records are written with schemas of a registry.
func formats(ctx context.Context, k *kit) (_ string, err error) {
	own := *k // its topics have the names of others
	if own.broker, err = kafkatest.Run(ctx, nil); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, own.broker.Close()) }()
	schemas, err := kafkatest.RunRegistry(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, schemas.Close()) }()
	client, err := sr.NewClient(sr.URLs(schemas.URL()))
	if err != nil {
		return "", err
	}
	if err := own.protobuf(ctx, client); err != nil {
		return "", fmt.Errorf("messages of Protobuf: %w", err)
	}
	waited, err := own.avro(ctx, schemas, client)
	if err != nil {
		return "", fmt.Errorf("values of Avro: %w", err)
	}
	return fmt.Sprintf("5 versions of schemas; %d records waited for a registry that was killed, 3 that nobody can read are dead letters", waited), nil
}

// protobuf sends messages of two versions of a file, and one of another message.
func (k *kit) protobuf(ctx context.Context, client *sr.Client) (err error) {
	by, err := protobufWriters(ctx, client)
	if err != nil {
		return err
	}
	s, err := k.openBook(ctx, protobufBook, func(db *pgxpool.Pool) (*idem.Consumer, error) { return protobook.NewConsumer(db) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	order := func(n int, more map[string]any) map[string]any {
		placed := map[string]any{
			"customerId": customer(n), "channel": "CHANNEL_WEB", "total": "12.50", "placedAt": "2026-01-02T03:04:05Z",
			"lines": []any{map[string]any{"sku": "a", "quantity": 2}, map[string]any{"sku": "b", "quantity": 3}},
		}
		maps.Copy(placed, more)
		return map[string]any{"orderId": orderID(n), "placed": placed}
	}
	s.add(by["first"], 1, order(1, nil))
	s.add(by["second"], 2, order(2, map[string]any{"note": "soon", "coupon": "X"}))
	s.add(by["second"], 1, map[string]any{"orderId": orderID(1), "paid": map[string]any{"cents": "700"}})
	s.add(by["line"], 3, order(3, nil))
	if err := s.send(ctx); err != nil {
		return err
	}
	s.rows[1] = "1 customer-1 CHANNEL_WEB 12.50 - 700 - 5"
	s.rows[2] = "2 customer-2 CHANNEL_WEB 12.50 soon 0 - 5"
	return s.is(ctx, "another message of the file")
}

// noted is the effect of a payment: nothing.
type noted struct{}

func (noted) OrderPaid(context.Context, avrobook.OrderPaid) error { return nil }

// avro sends values of three versions of a schema and of one that refers to another, one with a
// schema that does not fit, and one with a number that the registry does not have. Those of the
// third version come while the registry is away.
func (k *kit) avro(ctx context.Context, schemas *kafkatest.Registry, client *sr.Client) (waited int, err error) {
	by, err := avroWriters(ctx, client)
	if err != nil {
		return 0, err
	}
	s, err := k.openBook(ctx, avroBook, func(db *pgxpool.Pool) (*idem.Consumer, error) {
		return avrobook.NewConsumer(db, registry.New(client), noted{})
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	order := func(n int, more map[string]any) map[string]any {
		placed := map[string]any{
			"orderId": orderID(n), "customerId": customer(n), "channel": "SHOP", "total": "12.50", "placedAt": time.Now(),
			"lines": []any{map[string]any{"sku": "a", "quantity": 2}, map[string]any{"sku": "b", "quantity": 3}},
		}
		maps.Copy(placed, more)
		return placed
	}
	paid := map[string]any{"orderId": orderID(1), "cents": 700, "by": map[string]any{"shop.v1.Card": map[string]any{"last4": "4242"}}}
	s.add(by["placed1"], 1, order(1, nil))
	s.add(by["placed2"], 2, order(2, map[string]any{"note": "soon", "coupon": "X"}))
	s.add(by["paid"], 1, paid)
	s.add(by["other"], 5, order(5, map[string]any{"customerId": 5}))
	s.add(by["unknown"], 6, order(6, nil))
	if err := s.send(ctx); err != nil {
		return 0, err
	}
	s.rows[1] = "1 customer-1 SHOP 12.50 - 700 4242 5"
	s.rows[2] = "2 customer-2 SHOP 12.50 soon 0 - 5"
	dead := []string{"customerId must be a string", "the registry has no schema 4000000"}
	if err := s.is(ctx, dead...); err != nil {
		return 0, err
	}
	if err := schemas.Crash(); err != nil {
		return 0, err
	}
	s.add(by["placed3"], 9, order(9, map[string]any{"note": "late", "coupon": "Y", "gift": true}))
	s.add(by["placed1"], 13, order(13, nil)) // behind it in its partition
	s.add(by["placed2"], 10, order(10, nil)) // in another one, with a schema that is known
	if err := s.send(ctx); err != nil {
		return 0, err
	}
	s.rows[10] = "10 customer-10 SHOP 12.50 - 0 - 5"
	if err := s.waits(ctx, fmt.Sprintf("schema %d of offset", by["placed3"].number), "the schema registry does not respond"); err != nil {
		return 0, err
	}
	if err := schemas.Restart(ctx); err != nil {
		return 0, err
	}
	s.rows[9] = "9 customer-9 SHOP 12.50 late 0 - 5"
	s.rows[13] = "13 customer-13 SHOP 12.50 - 0 - 5"
	return 2, s.is(ctx, dead...)
}

func orderID(n int) string  { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
func customer(n int) string { return fmt.Sprintf("customer-%d", n) }

// bookStage is a service of an order book in this process, with a database of its own.
type bookStage struct {
	k        *kit
	db       *database
	consumer *idem.Consumer
	stop     func() error
	next     []*wire.Message // to be sent
	failed   error           // to pack
	sent     int
	rows     map[int]string // that there must be, by the number of the order
}

// openBook starts the service of a folder.
func (k *kit) openBook(ctx context.Context, folder string, service func(*pgxpool.Pool) (*idem.Consumer, error)) (_ *bookStage, err error) {
	s := &bookStage{k: k, rows: map[int]string{}, stop: func() error { return nil }}
	for _, topic := range []string{bookTopic, "stock.v1"} {
		if err := k.fresh(ctx, topic, "order-book", partitions); err != nil {
			return nil, err
		}
	}
	if s.db, err = openDatabase(ctx, nil); err != nil {
		return nil, err
	}
	err = s.db.Migrate(ctx, folder+"/migrations")
	if err == nil {
		s.consumer, err = service(s.db.pool)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.stop = k.consume(ctx, s.consumer)
	return s, nil
}

// consume runs a service in this process, and returns what stops it.
func (k *kit) consume(ctx context.Context, service *idem.Consumer) (stop func() error) {
	running, end := context.WithCancel(ctx)
	ended := begin(func() (struct{}, error) {
		source := &confluent.Source{Brokers: k.broker.Addr(), Config: kafka.ConfigMap{"session.timeout.ms": 6000}}
		return struct{}{}, service.Run(running, source)
	})
	return func() error {
		end()
		_, err := ended()
		return err
	}
}

func (s *bookStage) close() error { return errors.Join(s.stop(), s.db.close()) }

// add adds a record of an order to those that are to be sent.
func (s *bookStage) add(by writer, n int, content map[string]any) {
	value, err := by.write(content)
	s.failed = errors.Join(s.failed, err)
	s.sent++
	s.next = append(s.next, &wire.Message{
		Topic: bookTopic, Partition: int32(n % partitions), Key: []byte(orderID(n)), Time: time.Now(), Value: value,
		Headers: []wire.Header{{Name: "message-id", Value: fmt.Append(nil, s.sent)}},
	})
}

func (s *bookStage) send(ctx context.Context) error {
	messages := s.next
	s.next = nil
	if s.failed != nil {
		return s.failed
	}
	return s.k.produce(ctx, messages...)
}

// is waits until there are the rows, and dead letters with these reasons, and the service is well.
func (s *bookStage) is(ctx context.Context, reasons ...string) error {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(s.rows)) {
		all = append(all, s.rows[n])
	}
	want := strings.Join(all, "\n")
	return s.until(ctx, func(rows, dead, health string) bool {
		return rows == want && health == "" && strings.Count(dead, "\n") == len(reasons)-1 && containsAll(dead, reasons)
	})
}

// waits holds that a partition waits, that Health says why, and that others go on.
func (s *bookStage) waits(ctx context.Context, why ...string) error {
	return s.until(ctx, func(rows, _, health string) bool {
		return strings.HasSuffix(rows, s.rows[10]) && containsAll(health, why)
	})
}

func containsAll(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// until waits until the rows, the reasons of dead letters and the service's health are right.
func (s *bookStage) until(ctx context.Context, right func(rows, dead, health string) bool) error {
	var rows, dead, health string
	err := stage.Until(ctx, patience, func() (bool, error) {
		err := s.db.pool.QueryRow(ctx, bookSQL).Scan(&rows, &dead)
		health = ""
		if why := s.consumer.Health().Err(); why != nil {
			health = why.Error()
		}
		return right(rows, dead, health), err
	})
	if err != nil {
		err = fmt.Errorf("%w; rows:\n%s\ndead letters:\n%s\nhealth: %s", err, rows, dead, health)
	}
	return err
}

// bookSQL asks for all orders, and for the reasons of all dead letters.
const bookSQL = `SELECT
	(SELECT coalesce(string_agg(concat_ws(' ', right(order_id::text, 12)::int, customer_id, channel, total, coalesce(note, '-'), paid_cents,
			coalesce(to_jsonb(o)->>'card', '-'), (SELECT sum(quantity) FROM order_lines l WHERE l.order_id = o.order_id)), E'\n' ORDER BY order_id), '')
		FROM orders o),
	(SELECT coalesce(string_agg(reason, E'\n' ORDER BY reason), '') FROM idem_dead_letter)`
