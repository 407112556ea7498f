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
		e.add(Skipped, "redis", "set $REDIS_URL, or write --redis, if main.go has redislease", "not examined: no address was given; leases are in Postgres by default")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	options, err := redis.ParseURL(e.Redis)
	if err != nil { // not told: it may quote the password
		e.add(Failure, "redis", "write redis://host:6379", "--redis, or $REDIS_URL, is not a valid address of a Redis")
		return
	}
	redis.SetLogger(silent{}) // what it would print is in the error
	client := redis.NewClient(options)
	defer client.Close()
	policy, err := client.ConfigGet(ctx, "maxmemory-policy").Result()
	if err != nil {
		e.failed("redis", err)
		return
	}
	if p := policy["maxmemory-policy"]; p != "noeviction" {
		e.add(Failure, "redis", "run CONFIG SET maxmemory-policy noeviction: if a lease is evicted, its call may be made twice", "its maxmemory-policy is %s", p)
		return
	}
	kept, err := client.ConfigGet(ctx, "appendonly").Result()
	switch {
	case err != nil:
		e.failed("redis", err)
	case kept["appendonly"] != "yes":
		e.add(Warning, "redis", manual("Redis lost its data"), "it evicts nothing, and loses all leases when it restarts (appendonly no): calls are then repeated")
	default:
		e.add(OK, "redis", "", "it evicts nothing, and keeps its data on disk")
	}
}

// silent is a logger of go-redis that prints nothing.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
