package ledger

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// A mark that Kafka returns is the one that was committed, whatever the consumer's name; any other
// metadata is none.
func TestMarkComesBack(t *testing.T) {
	for _, consumer := range []string{"orders", "", "a b  c", "%d ü\n"} {
		m := Mark{Stream: wire.UUID{1, 2}, Seq: 1 << 40, Token: wire.UUID{15: 3}, Next: 6, High: 7, Fence: 9, Consumer: consumer}
		if got, ok := ReadMark(6, m.String()); !ok || got != m {
			t.Errorf("%+v came back as %+v, %v", m, got, ok)
		}
	}
	good := Mark{Consumer: "orders"}.String()
	for _, text := range []string{"", "mine", "idemgen", strings.Replace(good, " 1 ", " 2 ", 1), good[:len(good)-len("orders")-1], strings.Replace(good, "-", "x", 1), "x" + good} {
		if m, ok := ReadMark(6, text); ok {
			t.Errorf("%q is read as %+v", text, m)
		}
	}
}
