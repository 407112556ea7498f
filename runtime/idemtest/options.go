package idemtest

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/lease"
)

var leasesIn func(testing.TB, *pgxpool.Pool) lease.Store

// LeasesIn has the generated tests of a package play effects with their leases in another store
// than Postgres, as main.go of the service says by idem.WithLeases. Call it in an init function of
// a test file: idemtest.LeasesIn(testleases.InRedis).
func LeasesIn(store func(testing.TB, *pgxpool.Pool) lease.Store) { leasesIn = store }

// Options are what generated tests give a consumer with effects.
func Options(t testing.TB, db *pgxpool.Pool) []idem.Option {
	if leasesIn == nil {
		return nil
	}
	return []idem.Option{idem.WithLeases(leasesIn(t, db))}
}
