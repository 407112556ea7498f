package generation_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/templates"
)

// A generation begins empty and grows fast: however small it was when keys were first looked up on
// a connection, later ones are found without reading the others.
func TestKeysAreFoundByTheIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.SQL); err != nil {
		t.Fatal(err)
	}
	pool := idemtest.Migrated(t, filepath.Join(dir, "sql"))
	held, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	conn := held.Conn()
	if err := session.Open(t.Context(), conn, session.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Of(conn.PgConn()).Prepare(t.Context(), conn.PgConn(), append(generation.Statements, session.ByIndex)); err != nil {
		t.Fatal(err)
	}
	if err := generation.First(t.Context(), conn, "a", time.Hour); err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, pool, `ALTER TABLE idem_keys_1 SET (autovacuum_enabled = off); ANALYZE idem_keys_1`)
	keys := make([]wire.Key, 500)
	for i := range keys {
		keys[i][0], keys[i][1] = byte(i), byte(i>>8)
	}
	look := func() (found int) {
		hits, err := generation.Known(t.Context(), conn, []int32{1}, keys)
		if err != nil {
			t.Fatal(err)
		}
		return len(hits)
	}
	for range 10 { // a prepared statement has its last plan by then
		look()
	}
	idemtest.Exec(t, pool, `INSERT INTO idem_keys SELECT 1, gen_random_uuid(), 1, 1, 1, 1 FROM generate_series(1, 50000)`)
	idemtest.Exec(t, pool, `INSERT INTO idem_keys VALUES (1, '00000000-0000-0000-0000-000000000000', 1, 1, 1, 1)`)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if got := look(); got != 1 {
		t.Errorf("%d keys were found, want 1", got)
	}
	var read int64
	if err := conn.QueryRow(t.Context(), `SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'idem_keys_1'`).Scan(&read); err != nil {
		t.Fatal(err)
	}
	if read > 0 {
		t.Errorf("%d rows were read to find it", read)
	}
}
