package redislease

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Check implements [lease.Checker]. It runs INFO on every master; the user needs no right to run
// CONFIG. A client of another type than those of go-redis only gets a PING.
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
		warnings = append(warnings, "if a server of a Ring is down, its leases are looked up on another server, which does not have them: calls are then made twice; use a Cluster or Sentinel")
		err = c.ForEachShard(ctx, each)
	case *redis.Client:
		err = each(ctx, c)
	default:
		err = s.client.Ping(ctx).Err()
	}
	slices.Sort(warnings)
	return slices.Compact(warnings), judged(err)
}

// inspect returns warnings about settings that make a server lose leases.
func inspect(ctx context.Context, c *redis.Client) ([]string, error) {
	text, err := c.Info(ctx).Result()
	if redis.HasErrorPrefix(err, "NOPERM") {
		return []string{"Redis: the user may not run INFO, so its configuration is unknown: if it evicts keys, or restarts empty, calls are made twice"}, nil
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
		warn("maxmemory-policy is %s: if a lease is evicted, its call may be made twice; set noeviction", policy)
	}
	switch {
	case info["role"] == "slave":
		warn("it is a replica, which cannot write leases; connect to its master")
	case info["aof_enabled"] == "0" && info["connected_slaves"] == "0":
		warn("appendonly is off, and it has no replica: a restart loses all leases, and their calls are made twice")
	case info["aof_enabled"] == "0": // its replicas then copy the empty data
		warn("appendonly is off: a restart before a replica takes over loses all leases, and their calls are made twice")
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
