package idemtest

import (
	"testing"

	"github.com/idemgen/idemgen/internal/kit/redistest"
)

// StartRedis starts a Redis server for a test, until the test ends. It stores leases in memory
// only. It is for services whose effects use Redis.
func StartRedis(t testing.TB) *redistest.Server {
	t.Helper()
	return redistest.Start(t, nil)
}
