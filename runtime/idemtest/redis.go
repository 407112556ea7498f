package idemtest

import (
	"testing"

	"github.com/idemgen/idemgen/internal/kit/redistest"
)

// StartRedis runs a Redis server that is the test's own, for services whose effects say store:
// redis. It keeps leases in memory only. Package redistest has more of its kind.
func StartRedis(t testing.TB) *redistest.Server {
	t.Helper()
	return redistest.Start(t, nil)
}
