package console_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// BenchmarkPages measures each page beside a million dead letters of twelve partitions, without
// what is kept for other viewers.
func BenchmarkPages(b *testing.B) {
	db := database(b)
	for n := range int32(12) {
		stream(b, db, n, 10)
	}
	idemtest.Exec(b, db, fmt.Sprintf(`INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, order_key, created_at)
		SELECT 1 + i %% 12, i, 0, CASE WHEN i %% 20 = 0 THEN 'w' ELSE 'd' END::"char", 'OrderPaid', 'handler: OrderPaid: account ' || md5(i::text)::uuid || ' is closed since ' || i %% 7, md5((i / 10)::text)::uuid,
		clock_timestamp() - i * interval '10 milliseconds' FROM generate_series(1, %d) i; ANALYZE`, 1_000_000))
	s := open(b, db)
	defer console.KeepNothing()()
	for _, page := range []string{"", "dead", "dead?topic=orders.v1", "dead?list=1", "dead?list=1&error=nothing", "dead?list=1&topic=orders.v1&error=since+3", "history", "history?owners=1",
		"effects", "find?topic=orders.v1&at=1:12", "letter?consumer=projector&topic=orders.v1&partition=1&offset=13", "ask?verb=replay&topic=orders.v1&through=4102444800000000.1.1.1"} {
		b.Run(page, func(b *testing.B) {
			for b.Loop() {
				if r := s.do(http.MethodGet, page, nil); r.StatusCode != http.StatusOK {
					b.Fatal(r.StatusCode, body(b, r))
				}
			}
		})
	}
}
