package operators

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A letter in Protobuf is shown as JSON if the spec is known, as far as it can be decoded; without
// the spec, as bytes.
func TestDeadLettersAreShownDecoded(t *testing.T) {
	const dir = "../../../../testdata/golden/accepted/protobuf_orders"
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, dir+"/migrations")
	t.Setenv("DATABASE_URL", db.Config().ConnString())
	const value = "\x0a\x03M-7\x12\x03S-7\x18\x18" // move_id, sku, pieces
	idemtest.Exec(t, db, `INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('order-book', 'stock.v1', gen_random_uuid(), 0)`)
	for offset, v := range []string{value, value[:len(value)-1]} {
		if _, err := db.Exec(t.Context(), `INSERT INTO idem_dead_letter (stream, offs, seq, state, reason, record) VALUES (1, $1, 0, 'd', 'decode: x', $2)`,
			offset, record.Append(nil, &wire.Message{Value: []byte(v)})); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range [][3]string{{"0:0", dir, `"sku": "S-7"`}, {"0:1", dir, "it cannot be decoded: "}, {"0:0", "", "no text"}} {
		args := []string{"dead", "show", "stock.v1", tc[0]}
		if tc[1] != "" {
			args = append(args, "--spec", tc[1])
		}
		if out := must(t, args...); !strings.Contains(out, tc[2]) {
			t.Errorf("%s: %q is not in\n%s", tc[0], tc[2], out)
		}
	}
	if code, _, stderr := run(t, "dead", "show", "stock.v1", "0:0", "--spec", "nowhere"); code != trouble || !strings.Contains(stderr, "no such spec") {
		t.Errorf("%d %s", code, stderr)
	}
}
