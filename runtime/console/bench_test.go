package console_test

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// millionSQL stores a million dead letters of 20 partitions, the newest at the largest offset: a
// fifth of them closed, a tenth parked, and a tenth with the key of an effect. Each has a UUID of
// its own as header, or in its payload, and shares its record key with nine others.
const millionSQL = `
INSERT INTO idem_stream (consumer, topic, topic_id, partition)
SELECT 'projector', CASE WHEN n < 12 THEN 'orders.v1' ELSE 'payments.v1' END, '00000000-0000-4000-8000-000000000001', n % 12 FROM generate_series(0, 19) n;
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq)
SELECT stream, n, gen_random_uuid(), greatest(0, n - 1) * 500, n * 500, CASE n WHEN 0 THEN 'g' ELSE 'b' END::"char", -1, 3, 12, 0
FROM generate_series(0, 2001) n, idem_stream ORDER BY n, stream;
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, order_key, key, created_at, resolved_at, resolved_by, record)
SELECT 1 + i % 20, i, 1 + i / 500, (ARRAY['r', 'x', 'w', 'd', 'd', 'd', 'd', 'd', 'd', 'd'])[1 + n]::"char", event,
    'handler: ' || event || ': account ' || id || ' is closed since ' || i % 7,
    encode(substring(sha256(convert_to('idemgen order key' || shared, 'UTF8')) FOR 16), 'hex')::uuid, CASE WHEN n = 3 THEN md5('key' || i)::uuid END,
    at, CASE WHEN n < 2 THEN at END, CASE WHEN n < 2 THEN 'ann: done' END,
    decode(replace(replace(stored, encode('iiiiiiii-iiii-iiii-iiii-iiiiiiiiiiii', 'hex'), encode(convert_to(id, 'UTF8'), 'hex')),
        encode('kkkkkkkk-kkkk-kkkk-kkkk-kkkkkkkkkkkk', 'hex'), encode(convert_to(shared, 'UTF8'), 'hex')), 'hex')
FROM (SELECT i, i / 20 % 10 AS n, clock_timestamp() - (1000000 - i) * interval '10 milliseconds' AS at, md5(i::text)::uuid::text AS id,
    md5('record key ' || i / 200 * 20 + i % 20)::uuid::text AS shared, CASE WHEN i % 20 < 12 THEN 'OrderPaid' ELSE 'PaymentMade' END AS event,
    CASE WHEN i % 20 < 12 THEN 'ORDER' ELSE 'PAYMENT' END AS stored FROM generate_series(0, 999999) i) AS l;
VACUUM ANALYZE idem_dead_letter, idem_ledger, idem_stream`

// million returns a database with a million dead letters.
func million(t testing.TB) *pgxpool.Pool {
	t.Helper()
	db := database(t)
	stored := func(m wire.Message) string { return hex.EncodeToString(record.Append(nil, &m)) }
	key, note := []byte("kkkkkkkk-kkkk-kkkk-kkkk-kkkkkkkkkkkk"), strings.Repeat("a text of the order, ", 6)
	text := strings.NewReplacer("ORDER'", stored(wire.Message{Key: key, Value: []byte(`{"id": "00000000-0000-4000-8000-000000000001", "card": "4711", "note": "` + note + `"}`),
		Headers: []wire.Header{{Name: "key", Value: []byte("iiiiiiii-iiii-iiii-iiii-iiiiiiiiiiii")}}})+"'",
		"PAYMENT'", stored(wire.Message{Key: key, Value: []byte(`{"reference": "iiiiiiii-iiii-iiii-iiii-iiiiiiiiiiii", "version": 3, "note": "` + note + `"}`)})+"'").Replace(millionSQL)
	for _, sql := range strings.Split(text, ";\n") {
		idemtest.Exec(t, db, sql)
	}
	return db
}

// BenchmarkPages measures each page beside a million dead letters of twenty partitions, without
// what is kept for other viewers.
func BenchmarkPages(b *testing.B) {
	db := million(b)
	s := open(b, db)
	defer console.KeepNothing()()
	keyOf := func(topic string, parts ...string) string {
		return "find?topic=" + topic + "&key=" + url.QueryEscape(strings.Join(parts, "\n"))
	}
	var newest, oldest, payment string
	if err := db.QueryRow(b.Context(), `SELECT md5('999990')::uuid, md5('85')::uuid, md5('record key 17')::uuid`).Scan(&newest, &oldest, &payment); err != nil {
		b.Fatal(err)
	}
	for _, page := range []struct{ name, path string }{
		{"overview", ""}, {"groups", "dead"}, {"groups of a topic", "dead?topic=orders.v1"}, {"list", "dead?list=1"}, {"list of an error", "dead?list=1&error=nothing"},
		{"list of a topic and an error", "dead?list=1&topic=orders.v1&error=since+3"}, {"list of a record key", "dead?list=1&key=" + payment},
		{"history", "history"}, {"history with owners", "history?owners=1"}, {"effects", "effects"},
		{"find an offset", "find?topic=orders.v1&at=1:12"}, {"find an offset of a letter", "find?topic=orders.v1&at=1:21"},
		{"find the key of a new letter", keyOf("orders.v1", newest)}, {"find the key of the oldest letter", keyOf("orders.v1", oldest)},
		{"find a key that is not there", keyOf("orders.v1", "none")}, {"find a key of fields", keyOf("payments.v1", "payment_id="+payment, "version=3")},
		{"letter", "letter?consumer=projector&topic=orders.v1&partition=1&offset=21"}, {"letter that is not there", "letter?consumer=projector&topic=orders.v1&partition=1&offset=22"},
		{"ask", "ask?verb=replay&topic=orders.v1&through=4102444800000000.1.1.1"},
	} {
		b.Run(page.name, func(b *testing.B) {
			for b.Loop() {
				if r := s.do(http.MethodGet, page.path, nil); r.StatusCode >= http.StatusInternalServerError {
					b.Fatal(r.StatusCode, body(b, r))
				}
			}
		})
	}
}
