package rig

import (
	"embed"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/templates"
)

// Database returns a database with the runtime's tables and table t.
func Database(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return idemtest.Migrated(t, RuntimeFiles(t), TableFiles(t))
}

// RuntimeTables applies the runtime's migrations.
func RuntimeTables(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	idemtest.Migrate(t, db, RuntimeFiles(t))
}

// RuntimeFiles is a folder of the runtime's migrations as they are compiled in.
func RuntimeFiles(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.SQL); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "sql")
}

// TableFiles is a folder of the migration that creates table t.
func TableFiles(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, tableSQL); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "table")
}

// Migrate applies what [Database] has to an empty database.
func Migrate(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	RuntimeTables(t, db)
	idemtest.Migrate(t, db, TableFiles(t))
}

// Table is the content of t as "id=v id=v", in order.
func Table(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return Query(t, db, `SELECT coalesce(string_agg(id || '=' || v, ' ' ORDER BY id), '') FROM t`)
}

// Letters are the dead letters as "offset class", in order.
func Letters(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return Query(t, db, `SELECT coalesce(string_agg(offs || ' ' || split_part(reason, ':', 1), ', ' ORDER BY offs), '') FROM idem_dead_letter`)
}

// Query returns the one text that a query returns.
func Query(t testing.TB, db *pgxpool.Pool, sql string, args ...any) string {
	t.Helper()
	rows, err := db.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := pgx.CollectOneRow(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// tableSQL is the migration that creates table t.
//
//go:embed table
var tableSQL embed.FS
