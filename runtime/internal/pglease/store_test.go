package pglease_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/leasetest"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/pglease"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/templates"
)

func TestStoreInPostgres(t *testing.T) {
	db := idemtest.DB(t)
	tables(t, db)
	leasetest.Run(t, true, func(t testing.TB) lease.Store {
		idemtest.Exec(t, db, `TRUNCATE idem_lease`)
		return store(t, db)
	})
}

// tables applies the runtime's migration.
func tables(t testing.TB, db *pgxpool.Pool) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.SQL); err != nil {
		t.Fatal(err)
	}
	idemtest.Migrate(t, db, filepath.Join(dir, "sql"))
}

func store(t testing.TB, db *pgxpool.Pool) *pglease.Store {
	service := &wire.Service{Consumer: "test", Schema: map[string]int{"core": 1, "keys": 1, "effects": 1}, Limits: wire.Limits{BatchTimeout: 30 * time.Second, StatementTimeout: 8 * time.Second, LockTimeout: 5 * time.Second}}
	p := pool.New(db, service, catalog.NewCurrent(service, slog.New(slog.DiscardHandler)), pglease.Statements)
	t.Cleanup(p.Close)
	return &pglease.Store{Pool: p, Now: time.Now}
}

// How much of the disk a lease takes, with its index and what Postgres needs to change it:
// docs/effects.md says it.
func TestSizeOfALease(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	const n = 20_000
	db := idemtest.DB(t)
	tables(t, db)
	s := store(t, db)
	for _, c := range []struct {
		what   string
		result []byte
		most   int // bytes
	}{
		{"no result", nil, 900}, {"a result of 37 bytes", make([]byte, 37), 1000}, {"a result of 500 bytes", make([]byte, 500), 2000},
	} {
		idemtest.Exec(t, db, `TRUNCATE idem_lease`)
		leasetest.Fill(t, true, s, n, c.result)
		var size, vacuumed int
		const sizeSQL = `SELECT pg_total_relation_size('idem_lease')`
		if err := db.QueryRow(t.Context(), sizeSQL).Scan(&size); err != nil {
			t.Fatal(err)
		}
		idemtest.Exec(t, db, `VACUUM FULL idem_lease`)
		if err := db.QueryRow(t.Context(), sizeSQL).Scan(&vacuumed); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes for each lease, %d once it is packed", c.what, size/n, vacuumed/n)
		if size/n > c.most || vacuumed/n < len(c.result)+100 {
			t.Errorf("%s: %d and %d bytes, not within %d and %d", c.what, size/n, vacuumed/n, len(c.result)+100, c.most)
		}
	}
}

func BenchmarkLease(b *testing.B) {
	server, err := idemtest.StartPostgres(b.Context(), idemtest.PostgresOptions{Durable: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Close() })
	db, err := pgxpool.New(b.Context(), server.URL())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(db.Close)
	tables(b, db)
	leasetest.Bench(b, true, store(b, db))
}
