package generated_test

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/idemgen/idemgen/internal/gen/messages"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/runtime/idem"
	orderbook "github.com/idemgen/idemgen/testdata/golden/accepted/protobuf_orders"
)

// The reason of a record whose enum has a number without a name tells the number and the enum. The
// oracle, which judges cases, says the same. A text that looks like such a reason stays a text.
func TestReasonsNameTheNumberThatAnEnumLacks(t *testing.T) {
	const dir = "../../testdata/golden/accepted/protobuf_orders"
	text, err := os.ReadFile(filepath.Join(dir, "idemgen.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := syntax.Load("idemgen.yaml", text)
	s, bad := resolve.Resolve(spec)
	if s == nil {
		t.Fatal(bad)
	}
	read, bad := messages.Read(spec, func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, path)) })
	bad.Append(read.Attach(s))
	if bad.Errors() > 0 {
		t.Fatal(bad)
	}
	for want, channel := range map[string]uint64{"": 2, "placed.channel is enum number 7, which has no name in shop.v1.Channel": 7} {
		placed := protowire.AppendTag(nil, 1, protowire.BytesType)
		placed = protowire.AppendString(placed, "is enum number 8, which has no name in secrets")
		placed = protowire.AppendVarint(protowire.AppendTag(placed, 2, protowire.VarintType), channel)
		placed = protowire.AppendString(protowire.AppendTag(placed, 3, protowire.BytesType), "9.90")
		placed = protowire.AppendBytes(protowire.AppendTag(placed, 4, protowire.BytesType), nil)
		value := protowire.AppendBytes(protowire.AppendTag([]byte("\x00\x00\x00\x00\x01\x00"), 2, protowire.BytesType), placed)
		m := idem.Message{
			Topic: "orders.v1", Key: []byte(recordKey), Value: value,
			Headers: []idem.Header{{Name: "message-id", Value: []byte("1")}},
		}
		got, told := "", ""
		if _, err := orderbook.DecodeOrderPlaced(&m); err != nil {
			got = err.Error()
		}
		if want != "" {
			told = "decode: OrderPlaced: " + want
		}
		if got != told {
			t.Errorf("channel %d: %q, want %q", channel, got, told)
		}
		_, out := oracle.New(s).Decode(oracle.Record{
			Topic: m.Topic, Key: m.Key, Value: value, Headers: []oracle.Header{{Name: "message-id", Value: []byte("1")}},
		})
		if judged := out.Path + " " + out.Detail; want != "" && judged != want || want == "" && out.Kind != oracle.Applied {
			t.Errorf("channel %d: the oracle says %q", channel, judged)
		}
	}
}
