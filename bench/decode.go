package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/examples/telemetry"
	idem "github.com/idemgen/idemgen/runtime"
)

const orderPayload = `{"order_id":"7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11","customer_id":"C-004711","channel":"web","total":129.90,"placed_at":"2026-03-01T08:15:30.123456Z","note":null,"items":[{"sku":"SKU-00017","quantity":2,"price":49.95},{"sku":"SKU-01234","quantity":1,"price":30.00}]}`

const readingPayload = `{"device_id":"d-004711","seq":918273,"ts":1767225600512,"values":{"temperature":22.5,"humidity":61.25,"battery":87},"firmware":"2.14.1"}`

// The peers decode into the cheapest types of encoding/json: texts and floats. The generated
// decoders check strictly and give exact decimals, UUIDs and times.
type peerOrder struct {
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

type peerReading struct {
	DeviceID string `json:"device_id"`
	Seq      int64  `json:"seq"`
	TS       int64  `json:"ts"`
	Values   struct {
		Temperature float64  `json:"temperature"`
		Humidity    *float64 `json:"humidity"`
		Battery     int32    `json:"battery"`
	} `json:"values"`
	Firmware string `json:"firmware"`
}

type decoderRatio struct {
	what  string
	ratio float64
}

// decoders compares the generated decoders with encoding/json, both with owned values.
func decoders() []decoderRatio {
	order := idem.Message{Value: []byte(orderPayload)}
	reading := idem.Message{Value: []byte(readingPayload)}
	return []decoderRatio{
		{fmt.Sprintf("an order of %d bytes with 2 items, owned values", len(orderPayload)), interleaved(
			func() error { _, err := orders.DecodeOrderPlaced(order); return err },
			func() error { var o peerOrder; return json.Unmarshal([]byte(orderPayload), &o) })},
		{fmt.Sprintf("a nested reading of %d bytes, owned values", len(readingPayload)), interleaved(
			func() error { _, err := telemetry.DecodeReading(reading); return err },
			func() error { var r peerReading; return json.Unmarshal([]byte(readingPayload), &r) })},
	}
}

// interleaved is how many times faster ours is than theirs: the ratio of the least times
// of 20 alternating runs.
func interleaved(ours, theirs func() error) float64 {
	least := [2]float64{}
	for range 20 {
		for i, do := range []func() error{ours, theirs} {
			if ns := once(do); least[i] == 0 || ns < least[i] {
				least[i] = ns
			}
		}
	}
	return least[1] / least[0]
}

// once is nanoseconds per call of a short run.
func once(do func() error) float64 {
	if err := do(); err != nil {
		panic(err) // the payloads above are constant: a bug of this program
	}
	const calls = 20_000
	start := time.Now()
	for range calls {
		_ = do()
	}
	return float64(time.Since(start).Nanoseconds()) / calls
}
