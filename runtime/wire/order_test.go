package wire

import (
	"encoding/json"
	"testing"
	"time"
)

// orderJSON is an event of usual shape: 281 bytes, two items.
const orderJSON = `{"order_id":"7d2a1f0e-8b7a-4c31-9d52-0a1b2c3d4e5f","customer_id":"cust-000123456","total":129.95,` +
	`"currency":"EUR","placed_at":"2026-03-14T09:26:53.589793Z","note":null,"items":[` +
	`{"sku":"SKU-100045","quantity":2,"price":49.99},{"sku":"SKU-200071","quantity":1,"price":29.97}],"ok":1}`

type order struct {
	OrderID    UUID
	CustomerID string
	Total      Decimal
	Currency   string
	PlacedAt   time.Time
	Note       *string
	Items      []orderItem
}

type orderItem struct {
	SKU      string
	Quantity int32
	Price    Decimal
}

// decode is what the generator writes for the fields of order.
func (e *order) decode(s *Scanner) {
	*e = order{Items: e.Items[:0]}
	var seen Members
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "order_id":
			seen.Add(s, 0)
			e.OrderID = s.UUID()
		case "customer_id":
			seen.Add(s, 1)
			e.CustomerID = s.String()
		case "total":
			seen.Add(s, 2)
			e.Total = s.Decimal()
		case "currency":
			seen.Add(s, 3)
			e.Currency = s.String()
		case "placed_at":
			seen.Add(s, 4)
			e.PlacedAt = s.Time()
		case "note":
			seen.Add(s, 5)
			e.Note = s.OptString()
		case "items":
			seen.Add(s, 6)
			for s.Array(); s.Element(); {
				var item orderItem
				item.decode(s)
				e.Items = append(e.Items, item)
			}
		default:
			s.Skip()
		}
	}
	seen.Require(s, "order_id", "customer_id", "total", "currency", "placed_at", "", "items")
}

func (e *orderItem) decode(s *Scanner) {
	var seen Members
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "sku":
			seen.Add(s, 0)
			e.SKU = s.String()
		case "quantity":
			seen.Add(s, 1)
			e.Quantity = s.Int32()
		case "price":
			seen.Add(s, 2)
			e.Price = s.Decimal()
		default:
			s.Skip()
		}
	}
	seen.Require(s, "sku", "quantity", "price")
}

// jsonOrder is what a service without a generator would decode into.
type jsonOrder struct {
	OrderID    string     `json:"order_id"`
	CustomerID string     `json:"customer_id"`
	Total      float64    `json:"total"`
	Currency   string     `json:"currency"`
	PlacedAt   time.Time  `json:"placed_at"`
	Note       *string    `json:"note"`
	Items      []jsonItem `json:"items"`
}

type jsonItem struct {
	SKU      string  `json:"sku"`
	Quantity int32   `json:"quantity"`
	Price    float64 `json:"price"`
}

func BenchmarkDecodeOrder(b *testing.B) {
	m := &Message{Value: []byte(orderJSON)}
	b.Run("borrowed", func(b *testing.B) {
		var s Scanner
		var e order
		b.ReportAllocs()
		for b.Loop() {
			s.Borrow(m)
			e.decode(&s)
			if err := s.Finish("Order"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("owned", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var s Scanner
			var e order
			s.Reset(m)
			e.decode(&s)
			if err := s.Finish("Order"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var e jsonOrder
			if err := json.Unmarshal(m.Value, &e); err != nil {
				b.Fatal(err)
			}
		}
	})
}
