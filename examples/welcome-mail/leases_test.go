package welcomemail

import (
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtest/testleases"
)

// The generated tests have their leases in Redis, as the service has.
func init() { idemtest.LeasesIn(testleases.InRedis) }
