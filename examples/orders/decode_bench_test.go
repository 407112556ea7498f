package orders

import (
	"encoding/json"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire/strictjson"
)

// placed is an order with 2 items.
var placed = idem.Message{
	Key: []byte("7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11"),
	Value: []byte(`{"order_id":"7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11","customer_id":"C-004711","channel":"web","total":129.90,` +
		`"placed_at":"2026-03-01T08:15:30.123456Z","note":null,"items":[{"sku":"SKU-00017","quantity":2,"price":49.95},{"sku":"SKU-01234","quantity":1,"price":30.00}]}`),
}

// peer is what a service with encoding/json decodes into, in its cheapest types: texts and
// floats. The generated decoder also checks strictly, compares with the record key, and
// gives exact decimals, UUIDs and times.
type peer struct {
	OrderID    string  `json:"order_id"`
	CustomerID string  `json:"customer_id"`
	Channel    string  `json:"channel"`
	Total      float64 `json:"total"`
	PlacedAt   string  `json:"placed_at"`
	Note       *string `json:"note"`
	Items      []struct {
		SKU      string  `json:"sku"`
		Quantity int32   `json:"quantity"`
		Price    float64 `json:"price"`
	} `json:"items"`
}

// BenchmarkDecode compares how a batch decodes (borrowed) and how handlers get their
// events (owned) with encoding/json.
func BenchmarkDecode(b *testing.B) {
	b.Run("borrowed", func(b *testing.B) {
		var s strictjson.Scanner
		var e OrderPlaced
		for b.Loop() {
			s.Borrow(&placed)
			e.decode(&s, &placed)
			if err := s.Finish("OrderPlaced"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("owned", func(b *testing.B) {
		for b.Loop() {
			var s strictjson.Scanner
			var e OrderPlaced
			s.Reset(&placed)
			e.decode(&s, &placed)
			if err := s.Finish("OrderPlaced"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			var p peer
			if err := json.Unmarshal(placed.Value, &p); err != nil {
				b.Fatal(err)
			}
		}
	})
}
