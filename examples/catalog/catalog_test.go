package catalog_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/catalog/prices"
	"github.com/idemgen/idemgen/examples/catalog/search"
	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Both services write one database. Each table is made by the migrations of its owner, and a
// product has columns of both.
func TestTwoServicesFillOneTable(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "search/migrations")
	idemtest.Migrate(t, db, "prices/migrations")
	broker := idemtest.Kafka(t, map[string]int32{"products.v1": 1, "listings.v1": 1})
	start(t, db, broker, prices.NewConsumer)
	start(t, db, broker, search.NewConsumer)

	produce(t, broker, "products.v1", "product.published", `{"title":"Red mug","price":{"amount":9.90,"currency":"EUR"},"changed_at":"2026-02-01T08:00:00Z"}`)
	eventually(t, db, `SELECT EXISTS (SELECT FROM products WHERE sku = 'MUG-RED' AND price = 9.90)`)
	produce(t, broker, "listings.v1", "listing.listed", `{"keywords":["mug","red"],"shelves":[{"shelf":"kitchen","rank":1}],"listed_at":"2026-02-01T09:00:00Z"}`)
	eventually(t, db, `SELECT EXISTS (SELECT FROM products WHERE sku = 'MUG-RED' AND price = 9.90 AND listed_at = '2026-02-01T09:00:00Z')
		AND (SELECT count(*) FROM keywords) = 2`)
}

// start runs a service until the test ends.
func start(t *testing.T, db *pgxpool.Pool, broker *idemtest.Broker, service func(*pgxpool.Pool, ...idem.Option) (*idem.Consumer, error)) {
	t.Helper()
	consumer, err := service(db)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(ctx, &franz.Source{Brokers: broker.Addr()}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// produce sends an event of a product.
func produce(t *testing.T, broker *idemtest.Broker, topic, eventType, value string) {
	t.Helper()
	err := broker.Produce(t.Context(), &idem.Message{
		Topic: topic, Key: []byte("MUG-RED"), Value: []byte(value),
		Headers: []idem.Header{{Name: "event-type", Value: []byte(eventType)}, {Name: "Idempotency-Key", Value: []byte(eventType)}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for an answer that is true.
func eventually(t *testing.T, db *pgxpool.Pool, query string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var so bool
		if err := db.QueryRow(t.Context(), query).Scan(&so); err != nil {
			t.Fatal(err)
		}
		if so {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not true within a minute: %s", query)
		}
	}
}
