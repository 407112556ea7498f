package effectsonredis

import (
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtest/testleases"
)

// The effects of this package have their leases in Redis.
func init() { idemtest.LeasesIn(testleases.InRedis) }
