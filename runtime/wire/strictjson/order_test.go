package strictjson

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// orderJSON is an event of usual shape: 281 bytes, two items.
const orderJSON = `{"order_id":"7d2a1f0e-8b7a-4c31-9d52-0a1b2c3d4e5f","customer_id":"cust-000123456","total":129.95,` +
	`"currency":"EUR","placed_at":"2026-03-14T09:26:53.589793Z","note":null,"items":[` +
	`{"sku":"SKU-100045","quantity":2,"price":49.99},{"sku":"SKU-200071","quantity":1,"price":29.97}],"ok":1}`

type order struct {
	OrderID    wire.UUID
	CustomerID string
	Total      wire.Decimal
	Currency   string
	PlacedAt   time.Time
	Note       *string
	Items      []orderItem
}

type orderItem struct {
	SKU      string
	Quantity int32
	Price    wire.Decimal
}

// decode is what the generator writes for the fields of order.
func (e *order) decode(s *Scanner) {
	*e = order{Items: e.Items[:0]}
	var seen struct{ order_id, customer_id, total, currency, placed_at, note, items bool }
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "order_id":
			s.Once(&seen.order_id)
			e.OrderID = s.UUID()
		case "customer_id":
			s.Once(&seen.customer_id)
			e.CustomerID = s.String()
		case "total":
			s.Once(&seen.total)
			e.Total = s.Decimal()
		case "currency":
			s.Once(&seen.currency)
			e.Currency = s.String()
		case "placed_at":
			s.Once(&seen.placed_at)
			e.PlacedAt = s.Time()
		case "note":
			s.Once(&seen.note)
			e.Note = Opt(s, s.String)
		case "items":
			s.Once(&seen.items)
			for s.Array(); s.Element(); {
				var item orderItem
				item.decode(s)
				e.Items = append(e.Items, item)
			}
		default:
			s.Skip()
		}
	}
	s.Require(seen.order_id, "order_id")
	s.Require(seen.customer_id, "customer_id")
	s.Require(seen.total, "total")
	s.Require(seen.currency, "currency")
	s.Require(seen.placed_at, "placed_at")
	s.Require(seen.items, "items")
}

func (e *orderItem) decode(s *Scanner) {
	var seen struct{ sku, quantity, price bool }
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "sku":
			s.Once(&seen.sku)
			e.SKU = s.String()
		case "quantity":
			s.Once(&seen.quantity)
			e.Quantity = s.Int32()
		case "price":
			s.Once(&seen.price)
			e.Price = s.Decimal()
		default:
			s.Skip()
		}
	}
	s.Require(seen.sku, "sku")
	s.Require(seen.quantity, "quantity")
	s.Require(seen.price, "price")
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
	m := &wire.Message{Value: []byte(orderJSON)}
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
