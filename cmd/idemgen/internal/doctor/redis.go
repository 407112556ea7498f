package doctor

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// redis looks at where leases are, if they are there.
func (e *examination) redis(ctx context.Context) {
	switch {
	case !e.Effects:
		return
	case e.Redis == "":
		e.add(Skipped, "redis", "set $REDIS_URL, or write --redis, if main.go has redislease", "it was not looked at: leases are in Postgres by default")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	options, err := redis.ParseURL(e.Redis)
	if err != nil { // not told: it may quote the password
		e.add(Failure, "redis", "write redis://host:6379", "--redis, or $REDIS_URL, is no address of a Redis")
		return
	}
	client := redis.NewClient(options)
	defer client.Close()
	policy, err := client.ConfigGet(ctx, "maxmemory-policy").Result()
	if err != nil {
		e.failed("redis", err)
		return
	}
	if p := policy["maxmemory-policy"]; p != "noeviction" {
		e.add(Failure, "redis", "CONFIG SET maxmemory-policy noeviction: a lease that is evicted lets a call be made twice", "its maxmemory-policy is %s", p)
		return
	}
	kept, err := client.ConfigGet(ctx, "appendonly").Result()
	switch {
	case err != nil:
		e.failed("redis", err)
	case kept["appendonly"] != "yes":
		e.add(Warning, "redis", `docs/operations.md, "Redis lost its data", says what to do then`, "it evicts nothing, and forgets all when it restarts (appendonly no)")
	default:
		e.add(OK, "redis", "", "it evicts nothing, and keeps its data on disk")
	}
}
