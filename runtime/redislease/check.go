package redislease

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Check implements [lease.Checker]. It reads INFO of every master, which needs no right to read
// the configuration.
func (s *Store) Check(ctx context.Context) (warnings []string, err error) {
	var mu sync.Mutex
	each := func(ctx context.Context, c *redis.Client) error {
		told, err := inspect(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, told...)
		return err
	}
	switch c := s.client.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(ctx, each)
	case *redis.Ring:
		warnings = append(warnings, "a Ring looks for the leases of a server that is down on another one, which has none: calls are made twice then; use a Cluster or Sentinel")
		err = c.ForEachShard(ctx, each)
	case *redis.Client:
		err = each(ctx, c)
	default:
		err = s.client.Ping(ctx).Err()
	}
	slices.Sort(warnings)
	return slices.Compact(warnings), judged(err)
}

// inspect warns of what makes one server forget leases.
func inspect(ctx context.Context, c *redis.Client) ([]string, error) {
	text, err := c.Info(ctx).Result()
	if redis.HasErrorPrefix(err, "NOPERM") {
		return []string{"Redis: the user may not run INFO, so that its set-up is unknown: a Redis that evicts keys, or restarts empty, makes calls twice"}, nil
	}
	if err != nil {
		return nil, err
	}
	info := fields(text)
	var told []string
	warn := func(format string, args ...any) {
		told = append(told, fmt.Sprintf("Redis %s: ", c.Options().Addr)+fmt.Sprintf(format, args...))
	}
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		warn("maxmemory-policy is %s: leases that it evicts are calls made twice; set noeviction", policy)
	}
	switch {
	case info["role"] == "slave":
		warn("it is a replica, which takes no leases; connect to its master")
	case info["aof_enabled"] == "0" && info["connected_slaves"] == "0":
		warn("appendonly is off, and it has no replica: a restart forgets leases, and their calls are made twice")
	}
	return told, nil
}

// fields reads the lines of INFO.
func fields(info string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			all[name] = value
		}
	}
	return all
}
