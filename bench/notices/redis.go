package notices

import (
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/runtime/redislease"
)

// Redis are leases in the Redis that the environment names, REDIS_ADDR.
func Redis() *redislease.Store {
	return redislease.New(redis.NewClient(&redis.Options{Addr: os.Getenv("REDIS_ADDR")}))
}
