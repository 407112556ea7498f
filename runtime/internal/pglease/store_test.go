package pglease_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtest/leasetest"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/pglease"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/templates"
)

func TestStoreInPostgres(t *testing.T) {
	db := idemtest.DB(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.SQL); err != nil {
		t.Fatal(err)
	}
	idemtest.Migrate(t, db, filepath.Join(dir, "sql"))
	leasetest.Run(t, true, func(t testing.TB) lease.Store {
		idemtest.Exec(t, db, `TRUNCATE idem_lease`)
		service := &wire.Service{Consumer: "test", Schema: 1, Limits: wire.Limits{StatementTimeout: 8 * time.Second, LockTimeout: 5 * time.Second}}
		p := pool.New(db, service, catalog.NewCurrent(service, slog.New(slog.DiscardHandler)), pglease.Statements)
		t.Cleanup(p.Close)
		return &pglease.Store{Pool: p}
	})
}
