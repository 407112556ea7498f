package operate_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

var projector = operate.Name{Consumer: "projector", Topic: "orders.v1"}

// chainSQL is a ledger with everything that moves a position: a genesis, an owner, two batches, of
// which the second holds one key, a skip, a move back, another owner and a batch.
const chainSQL = `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('projector', 'orders.v1', '00000000-0000-4000-8000-000000000001', 0);
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at, keys, info, letters, letters_from)
SELECT 1, seq, gen_random_uuid(), prev, next, kind::"char", -1, 3, 1, window_seq, timestamptz '2026-11-23 09:00Z' + seq * interval '1 minute', keys, info,
       CASE seq WHEN 6 THEN 3 END, CASE seq WHEN 6 THEN 7 END
FROM (VALUES
    (0, 10, 10, 'g', 0, NULL::bytea, 'first host, process 1'),
    (1, 10, 10, 'f', 0, NULL, 'first host, process 1'),
    (2, 10, 15, 'b', 0, decode(repeat('00', 8) || repeat('ab', 16) || repeat('00', 16), 'hex'), NULL),
    (3, 15, 16, 'b', 0, decode(repeat('cd', 16) || '00000001', 'hex'), NULL),
    (4, 16, 20, 's', 0, NULL, 'operator ann: test data'),
    (5, 20, 12, 'r', 0, NULL, 'operator bob: prices were wrong'),
    (6, 12, 12, 'f', 3, NULL, 'second host, process 2'),
    (7, 12, 14, 'b', 3, NULL, NULL)
) AS v (seq, prev, next, kind, window_seq, keys, info);`

// ledgers returns a database with the ledger of chainSQL.
func ledgers(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := database(t)
	idemtest.Exec(t, db, chainSQL)
	return db
}

// says fails the test unless a text holds all of some others.
func says(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, part := range all {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
}
