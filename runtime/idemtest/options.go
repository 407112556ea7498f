package idemtest

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/lease"
)

var leasesIn func(testing.TB, *pgxpool.Pool) lease.Store

// LeasesIn makes the generated tests of a package use store for the leases of effects, instead of
// Postgres. It must be the kind of store that the service's program passes to idem.WithLeases.
// Call it in an init function of a test file: idemtest.LeasesIn(testleases.InRedis).
func LeasesIn(store func(testing.TB, *pgxpool.Pool) lease.Store) { leasesIn = store }

// Options returns the options that generated tests pass to a consumer with Go code.
func Options(t testing.TB, db *pgxpool.Pool) []idem.Option {
	options := []idem.Option{idem.WithMiddleware(countRows)}
	if leasesIn != nil {
		options = append(options, idem.WithLeases(leasesIn(t, db)))
	}
	return options
}
