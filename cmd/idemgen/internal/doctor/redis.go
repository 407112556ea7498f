package doctor

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/runtime/redislease"
)

// redis looks at where leases are, if they are there, as the service does at its start.
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
	redis.SetLogger(silent{}) // what it would print is in the error
	client, err := openRedis(ctx, e.Redis)
	if err != nil { // not told: it may quote the password
		e.add(Failure, "redis", "write redis://host:6379", "--redis, or $REDIS_URL, is not a valid address of a Redis")
		return
	}
	defer client.Close()
	warnings, err := redislease.New(client).Check(ctx)
	for _, w := range warnings {
		e.add(Warning, "redis", `read "What Redis needs" in idemgen's docs/production.md, and "Redis lost its data" in docs/operations.md`, "%s", w)
	}
	switch {
	case err != nil:
		e.failed("redis", err)
	case len(warnings) == 0:
		e.add(OK, "redis", "", "no setting is known to make it lose leases")
	}
}

// openRedis returns a client of the Redis at a URL: of all its masters if it is a Cluster.
func openRedis(ctx context.Context, url string) (redis.UniversalClient, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	client := redis.NewClient(options)
	if info, err := client.Info(ctx, "cluster").Result(); err != nil || !strings.Contains(info, "cluster_enabled:1") {
		return client, nil // if it does not answer, the check says so
	}
	defer client.Close()
	all, err := redis.ParseClusterURL(url)
	if err != nil {
		return nil, err
	}
	return redis.NewClusterClient(all), nil
}

// silent is a logger of go-redis that prints nothing.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
