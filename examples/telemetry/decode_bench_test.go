package telemetry

import (
	"encoding/json"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire/strictjson"
)

var reading = idem.Message{
	Value: []byte(`{"device_id":"d-004711","seq":918273,"ts":1767225600512,"values":{"temperature":22.5,"humidity":61.25,"battery":87},"firmware":"2.14.1"}`),
}

// peer is what a service with encoding/json decodes into.
type peer struct {
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

// BenchmarkDecode compares how a batch decodes (borrowed) and how handlers would get their
// events (owned) with encoding/json.
func BenchmarkDecode(b *testing.B) {
	b.Run("borrowed", func(b *testing.B) {
		var s strictjson.Scanner
		var e Reading
		for b.Loop() {
			s.Borrow(&reading)
			e.decode(&s, nil)
			if err := s.Finish("Reading"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("owned", func(b *testing.B) {
		for b.Loop() {
			var s strictjson.Scanner
			var e Reading
			s.Reset(&reading)
			e.decode(&s, &reading)
			if err := s.Finish("Reading"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			var p peer
			if err := json.Unmarshal(reading.Value, &p); err != nil {
				b.Fatal(err)
			}
		}
	})
}
